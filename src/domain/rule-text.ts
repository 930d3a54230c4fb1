import type { Random } from './clock.ts';
import { SignageError } from './error.ts';

/** A share such as `10%` or `0.5%`, as a number above 0 and at most 1; `undefined` for what is none. */
export function readShare(text: string): number | undefined {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  return share > 0 && share <= 1 ? share : undefined;
}

/** A number from 0 to below 1, by chance. */
export function fraction(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}

/** The error for a rule that cannot be read: which part of it is wrong, where that stands, and what there may be. */
export function wrongRule(
  rule: string,
  { part, at, allowed }: { part: string; at: number; allowed: string },
): SignageError {
  const where =
    part === ''
      ? `something is missing at character ${at + 1}`
      : `"${part}" (character ${at + 1}) is not understood`;
  return new SignageError('invalid_option', `In the fault rule "${rule}", ${where}: ${allowed}.`);
}
