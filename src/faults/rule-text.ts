import type { Random } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';

/**
 * Parses a share such as `10%` or `0.5%` to a number above 0 and at most 1. Returns `undefined` for
 * other text.
 */
export function parseShare(text: string): number | undefined {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  return share > 0 && share <= 1 ? share : undefined;
}

/** Returns a random number that is at least 0 and less than 1. */
export function randomFraction(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}

/**
 * Returns the error for a malformed rule. The error names the wrong part, its position and the
 * allowed values.
 */
export function malformedRule(
  rule: string,
  { part, at, allowed }: { part: string; at: number; allowed: string },
): SignageError {
  const where =
    part === ''
      ? `something is missing at character ${at + 1}`
      : `"${part}" (character ${at + 1}) is not understood`;
  return new SignageError('invalid_option', `In the fault rule "${rule}", ${where}: ${allowed}.`);
}
