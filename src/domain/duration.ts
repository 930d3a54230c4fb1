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
