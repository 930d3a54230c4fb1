import { relativeTime } from '../../domain/duration.ts';

export { relativeTime, span } from '../../domain/duration.ts';
export { shellQuote } from '../../domain/file-access.ts';

/** Formats a count: `1 venue`, `1,000 screens`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Counts equal words: `2 created, 40 unchanged`. */
export function countsText(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count.toLocaleString('en')} ${word}`).join(', ');
}

/**
 * Formats a time with the time span from now: `2026-05-01T08:00:00Z (3 h ago)`. Returns other text
 * unchanged.
 */
export function ago(time: string | number, nowMs: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  const shown = date.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return `${shown} (${relativeTime(date.getTime(), nowMs)})`;
}
