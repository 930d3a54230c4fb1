import { dayMs, hourMs, minuteMs, secondMs } from './clock.ts';

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: secondMs,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
};

/** A span of time as people write it, `250ms`, `90s`, `15m`, `2h` or `7d`, in milliseconds; a bare number counts seconds. `undefined` for what is none. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unitsMs[unit] ?? secondMs);
}
