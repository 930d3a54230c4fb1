import { serviceAddress } from '../../../client/transport.ts';
import { hourMs, iso, secondMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { countConditions, readFleetStatus } from '../../glass/fleet-status.ts';
import type { View } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { exitCodeOf } from '../../program/exit-code.ts';
import { noneMatches } from '../../records/select-screens.ts';
import { poll } from '../../records/wait.ts';
import { BoardServer } from './board-server.ts';
import { boardTiles, connectionFlags } from './board-tiles.ts';
import { openBrowser } from './open-browser.ts';

interface BoardOptions {
  venue: readonly string[];
  selector: readonly string[];
  port: number;
  open: boolean;
  noPreviews: boolean;
}

const everyMs = 5 * secondMs;
/** The board ends so long after its last viewer. */
const maxIdleMs = hourMs;
const endless = { timeoutMs: Number.POSITIVE_INFINITY, what: 'Ctrl-C' };
const unreachableExitCode = 7;

const boardView: View<{ url: string }> = {
  columns: [{ name: 'board', value: ({ url }) => url }],
  nameOf: ({ url }) => url,
};

/** A board while it runs. It starts with the first answer of the service. */
class Board {
  readonly #call: CommandContext;
  readonly #options: BoardOptions;
  #server: BoardServer | undefined;
  #isAway = false;

  constructor(call: CommandContext, options: BoardOptions) {
    this.#call = call;
    this.#options = options;
  }

  get hasStarted(): boolean {
    return this.#server !== undefined;
  }

  /** Whether it has had no viewer for too long. */
  get isAbandoned(): boolean {
    return (this.#server?.idleMs ?? 0) >= maxIdleMs;
  }

  /** Asks the service once, for all viewers. Throws unless the service may answer later. */
  async refresh(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (!this.#server || exitCodeOf(error) !== unreachableExitCode) throw error;
      const { message } = error as SignageError;
      this.#server.publishProblem(message);
      if (!this.#isAway) this.#call.note(`${message} The page shows old data. Trying again.`);
      this.#isAway = true;
    }
  }

  async #read(): Promise<void> {
    const { io, clock, random, flags, profile, note } = this.#call;
    const { venue, selector, port, noPreviews } = this.#options;
    const fleet = { venue, selector, condition: undefined, darkAfter: undefined };
    const screens = await readFleetStatus(this.#call, fleet);
    const hasSelection = venue.length > 0 || selector.length > 0;
    if (screens.length === 0 && hasSelection && !this.#server) throw noneMatches(this.#call, '');
    const hasPreviews = !noPreviews;
    const shown = {
      serviceUrl: serviceAddress((await profile()).url.value),
      hasPreviews,
      program: io.program,
      flags: connectionFlags(flags),
    };
    const started = this.#server;
    const server = started ?? (await BoardServer.start({ port, hasPreviews, clock, random }));
    this.#server = server;
    const tiles = boardTiles(screens, shown);
    server.publish(tiles, screens[0]?.at ?? iso(clock.now()));
    if (this.#isAway) note('The service answers again.');
    this.#isAway = false;
    if (!started) await this.#announce(server, countConditions(screens));
  }

  async #announce(server: BoardServer, counts: string): Promise<void> {
    const { results, note, io, random } = this.#call;
    await results.record({ url: server.url }, boardView);
    note(`${counts}.`);
    note(
      'Open the address in a browser on this machine. Everybody here who knows it sees the board, and can change nothing. The board ends with Ctrl-C, or an hour after its last viewer.',
    );
    if (this.#options.open && !(await openBrowser(server.oneTimeUrl(random), io)))
      note('No browser could be opened: open the address yourself.');
  }

  async close(why: string): Promise<void> {
    await this.#server?.close(`${why} To start it again: ${this.#call.io.program} board`);
  }
}

/**
 * Runs `signage board`: serves the page until Ctrl-C, until its viewers are gone, or until the
 * service refuses the token.
 */
export async function runBoard(call: CommandContext, options: BoardOptions): Promise<void> {
  const board = new Board(call, options);
  let farewell = 'The board has ended: nobody has looked at it for an hour.';
  try {
    await poll(call, { ...endless, everyMs }, async () => {
      if (board.isAbandoned) return true;
      await board.refresh();
      return undefined;
    });
    call.note(farewell);
  } catch (error) {
    const isRefused = error instanceof SignageError && error.code !== 'interrupted';
    farewell = isRefused ? `The board has ended: ${error.message}` : 'The board has ended.';
    if (board.hasStarted) call.note('The board has ended.');
    throw error;
  } finally {
    await board.close(farewell);
  }
}
