import { secondMs } from '../../domain/clock.ts';
import type { CommandContext } from '../command/context.ts';
import { printableJson } from '../terminal/escape.ts';
import {
  type LiveLine,
  type LiveView,
  type LiveViewSize,
  openLiveView,
} from '../terminal/live-view.ts';
import type { TvLogEntry } from './log-entry.ts';
import { logLine, logRecord } from './log-line.ts';
import type { TvOptions } from './tv-options.ts';

/** Shows what a TV does. */
export interface TvDisplay {
  open(): Promise<void>;
  log(entry: TvLogEntry): void;
  /** Removes the live view while `ask` runs. */
  suspend<T>(ask: () => Promise<T>): Promise<T>;
  close(): void;
}

/** Minimum time between two redraws. */
const drawEveryMs = secondMs / 10;

/** Whether to draw the live view instead of printing lines. */
function isWatched({ io, common }: CommandContext): boolean {
  const isPlain =
    common.output === undefined && !common.quiet && !common.verbose && io.env.TERM !== 'dumb';
  return isPlain && io.stdout.isTTY && io.stderr.isTTY;
}

/**
 * Prints one line for each log entry. `-o ndjson` prints JSON objects. `--quiet` prints only those.
 */
function lineDisplay({ io, common }: CommandContext): TvDisplay {
  const text = (entry: TvLogEntry) => {
    if (common.output === 'ndjson') return `${printableJson(logRecord(entry), 0)}\n`;
    return common.quiet ? undefined : logLine(entry);
  };
  return {
    log(entry) {
      const line = text(entry);
      if (line !== undefined) io.stdout.write(line);
    },
    open: async () => {},
    suspend: (ask) => ask(),
    close: () => {},
  };
}

/** Draws the live view. */
class LiveDisplay implements TvDisplay {
  readonly #call: CommandContext;
  readonly #render: (size: LiveViewSize) => readonly LiveLine[];
  #liveView: LiveView | undefined;
  #cancel: (() => void) | undefined;

  constructor(call: CommandContext, render: (size: LiveViewSize) => readonly LiveLine[]) {
    this.#call = call;
    this.#render = render;
  }

  async open(): Promise<void> {
    this.#liveView = await openLiveView(this.#call, this.#render);
  }

  log(): void {
    this.#cancel ??= this.#call.clock.after(drawEveryMs, () => {
      this.#cancel = undefined;
      this.#liveView?.draw();
    });
  }

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

/** Returns the live view for a person at a terminal, otherwise the line output. */
export function makeDisplay(
  call: CommandContext,
  options: Pick<TvOptions, 'once'>,
  render: (size: LiveViewSize) => readonly LiveLine[],
): TvDisplay {
  return isWatched(call) && !options.once ? new LiveDisplay(call, render) : lineDisplay(call);
}
