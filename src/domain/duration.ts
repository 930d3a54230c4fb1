import { dayMs, hourMs, minuteMs, secondMs } from './clock.ts';

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: secondMs,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
};

/**
 * Parses a duration such as `250ms`, `90s`, `15m`, `2h` or `7d` to milliseconds. A number without a
 * unit is in seconds. Returns `undefined` for other text.
 */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unitsMs[unit] ?? secondMs);
}

const units: readonly (readonly [ms: number, name: string])[] = [
  [dayMs, 'd'],
  [hourMs, 'h'],
  [minuteMs, 'min'],
  [secondMs, 's'],
];

/** Formats a time span in its largest unit: `3 h`. */
export function span(ms: number): string {
  const [unitMs, name] = units.find(([unit]) => Math.abs(ms) >= unit) ?? [secondMs, 's'];
  return `${Math.floor(Math.abs(ms) / unitMs)} ${name}`;
}

/** Formats a time by its distance from now: `3 h ago`, `in 3 h`, or `now` within a second. */
export function relativeTime(timeMs: number, nowMs: number): string {
  if (Math.abs(timeMs - nowMs) < secondMs) return 'now';
  return timeMs <= nowMs ? `${span(nowMs - timeMs)} ago` : `in ${span(timeMs - nowMs)}`;
}
