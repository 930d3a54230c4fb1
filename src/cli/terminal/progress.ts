import type { Environment } from '../command/environment.ts';
import type { CommonValues } from '../options/shared.ts';
import { escapeControl } from './escape.ts';

const minIntervalMs = 100;

/** A line on `stderr` that is overwritten in place. Shown only at a terminal. `end` erases it. */
export interface Progress {
  show(text: string): void;
  end(): void;
}

export function makeProgress({
  io,
  clock,
  common,
}: Environment & { common: Pick<CommonValues, 'quiet'> }): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  const isWatched = io.stderr.isTTY && !common.quiet;
  return {
    show(text) {
      const now = clock.now();
      if (!isWatched || now - shownAt < minIntervalMs) return;
      shownAt = now;
      io.stderr.write(`\r\u001b[K${escapeControl(text)}`);
    },
    end() {
      if (shownAt > Number.NEGATIVE_INFINITY) io.stderr.write('\r\u001b[K');
      shownAt = Number.NEGATIVE_INFINITY;
    },
  };
}
