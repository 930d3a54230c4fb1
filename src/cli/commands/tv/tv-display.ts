import { secondMs } from '../../../domain/clock.ts';
import type { CommandContext } from '../../program/context.ts';
import { printableJson } from '../../terminal/escape.ts';
import {
  isWatched,
  type LiveLine,
  type LiveView,
  type LiveViewSize,
  openLiveView,
} from '../../terminal/live-view.ts';
import { logLine, logRecord, type TvLogEntry } from './tv-log.ts';

/** Minimum time between two redraws. */
const drawEveryMs = secondMs / 10;

/**
 * Prints one line for a log entry: with `-o ndjson` a JSON object, otherwise text. `--quiet`
 * suppresses the text.
 */
function printEntry({ io, common }: CommandContext, entry: TvLogEntry): void {
  if (common.output === 'ndjson') io.stdout.write(`${printableJson(logRecord(entry), 0)}\n`);
  else if (!common.quiet) io.stdout.write(logLine(entry) ?? '');
}

/** Shows the activity of a TV: the live view for a person at a terminal, otherwise lines. */
export class TvDisplay {
  readonly #call: CommandContext;
  readonly #isLive: boolean;
  readonly #render: (size: LiveViewSize) => readonly LiveLine[];
  #liveView: LiveView | undefined;
  #cancel: (() => void) | undefined;

  constructor(
    call: CommandContext,
    once: boolean,
    render: (size: LiveViewSize) => readonly LiveLine[],
  ) {
    this.#call = call;
    this.#isLive = isWatched(call) && call.io.stdout.isTTY && !once;
    this.#render = render;
  }

  async open(): Promise<void> {
    if (this.#isLive) this.#liveView = await openLiveView(this.#call, this.#render);
  }

  log(entry: TvLogEntry): void {
    if (!this.#isLive) {
      printEntry(this.#call, entry);
      return;
    }
    this.#cancel ??= this.#call.clock.after(drawEveryMs, () => {
      this.#cancel = undefined;
      this.#liveView?.draw();
    });
  }

  /** Removes the live view while `ask` runs. */
  async suspend<T>(ask: () => Promise<T>): Promise<T> {
    this.close();
    try {
      return await ask();
    } finally {
      await this.open();
    }
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#liveView?.close();
    this.#liveView = undefined;
  }
}
