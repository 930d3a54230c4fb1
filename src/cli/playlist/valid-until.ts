import { readTime } from '../options/time.ts';

/**
 * Parses the end of a playlist, in epoch seconds. `none` becomes `null`. Throws `usage` for other
 * text. The error begins with `source`.
 */
export function readValidUntil(text: string, nowMs: number, source: string): number | null {
  if (text === 'none') return null;
  return Math.floor(readTime(text, { source, nowMs, spans: 'ahead' }) / 1000);
}
