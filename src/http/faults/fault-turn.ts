import type { Random } from '../../domain/clock.ts';
import { fraction, readShare, wrongRule } from '../../domain/rule-text.ts';
import type { Part } from './fault-effect.ts';

/** Says of each request that a rule is for, in the order in which they come, whether it is hit. */
export type Turn = () => boolean;

const allowed = 'there is 10%, every 3 and first 5; without any of them every request is hit';
const wholeNumber = (word: string | undefined) =>
  word !== undefined && /^[1-9]\d{0,8}$/.test(word) ? Number(word) : undefined;

/** How often. Throws `invalid_option` with what is wrong in the rule. */
export function readTurn({ rule, text, at }: Part, random: Random): Turn {
  const [word = '', number, ...rest] = text.split(' ').filter((one) => one !== '');
  const [share, count] = [readShare(word), wholeNumber(number)];
  let seen = 0;
  if (share !== undefined && number === undefined) return () => fraction(random) < share;
  if (word === 'every' && count !== undefined && rest.length === 0)
    return () => ++seen % count === 0;
  if (word === 'first' && count !== undefined && rest.length === 0) return () => ++seen <= count;
  throw wrongRule(rule, { part: text, at, allowed });
}
