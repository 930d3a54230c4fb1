import type { Environment } from './environment.ts';
import { eraseLine, escapeControl } from './escape.ts';
import { truncate } from './truncate.ts';

const minIntervalMs = 100;
const barWidth = 20;
const defaultColumns = 80;

/** Draws a progress bar: `[#####               ] 250 of 1,000`. */
export function progressBar(done: number, total: number): string {
  const filled = Math.floor((done / total) * barWidth);
  const bar = '#'.repeat(filled).padEnd(barWidth);
  return `[${bar}] ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
}

/**
 * Runs `work` with a progress line on `stderr`. `show` replaces the line, at most once per
 * `minIntervalMs`, and `erase` removes it. The line is cut to the width of the terminal, and erased
 * at the end. Without a terminal, with `TERM=dumb` or with `--quiet`, it is not shown.
 */
export async function withProgress<T>(
  { io, clock, common }: Environment & { common: { quiet: boolean } },
  work: (show: (text: string) => void, erase: () => void) => Promise<T>,
): Promise<T> {
  const isWatched = io.stderr.isTTY && !common.quiet && io.env.TERM !== 'dumb';
  const { default: width } = isWatched ? await import('string-width') : { default: () => 0 };
  const columns = (io.stderr.columns ?? defaultColumns) - 1;
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = (text: string) => {
    const now = clock.now();
    if (!isWatched || now - shownAt < minIntervalMs) return;
    shownAt = now;
    io.stderr.write(eraseLine() + truncate(escapeControl(text), columns, width));
  };
  const erase = () => {
    if (shownAt > Number.NEGATIVE_INFINITY) io.stderr.write(eraseLine());
    shownAt = Number.NEGATIVE_INFINITY;
  };
  try {
    return await work(show, erase);
  } finally {
    erase();
  }
}
