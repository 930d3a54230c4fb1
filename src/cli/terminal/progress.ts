import type { Context } from '../command/environment.ts';
import type { CommonValues } from '../options/shared.ts';
import { escapeControl } from './escape.ts';

const everyMs = 100;

/** One line on `stderr` that is written over and over, for a person who waits; nothing elsewhere. `end` wipes it away. */
export interface Progress {
  show(text: string): void;
  end(): void;
}

export function makeProgress({
  io,
  clock,
  common,
}: Context & { common: Pick<CommonValues, 'quiet'> }): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  const isWatched = io.stderr.isTTY && !common.quiet;
  return {
    show(text) {
      const now = clock.now();
      if (!isWatched || now - shownAt < everyMs) return;
      shownAt = now;
      io.stderr.write(`\r\u001b[K${escapeControl(text)}`);
    },
    end() {
      if (shownAt > Number.NEGATIVE_INFINITY) io.stderr.write('\r\u001b[K');
      shownAt = Number.NEGATIVE_INFINITY;
    },
  };
}
