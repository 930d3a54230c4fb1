import type { Random } from '../../domain/clock.ts';
import { malformedRule, parseShare, randomFraction } from '../../domain/rule-text.ts';
import { type FaultEffect, type Part, readEffect } from './fault-effect.ts';
import { type FaultTarget, segmentsOf } from './fault-target.ts';

/** One fault rule: which requests, which effect, how often (docs/faults.md). */
export interface FaultRule {
  /** The text of the rule. */
  text: string;
  target: FaultTarget;
  effect: FaultEffect;
  applies: Frequency;
}

const form = '[METHOD] PATH=EFFECT[:HOW OFTEN], such as GET /devices/*/playlist=500:10%';
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function readTarget({ rule, text, at }: Part): FaultTarget {
  const words = text.split(' ').filter((word) => word !== '');
  const [path = '', method] = words.toReversed();
  const wrong = (part: string, allowed: string) =>
    malformedRule(rule, { part, at: at + Math.max(0, text.indexOf(part)), allowed });
  if (words.length > 2) throw wrong(text.trim(), `a rule is ${form}`);
  if (method !== undefined && !methods.includes(method))
    throw wrong(method, `use one of the methods ${methods.join(', ')}`);
  if (path === '*') return { method, segments: undefined };
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#]/.test(path))
    throw wrong(
      path,
      'a path begins with /, with * for any one segment; * alone matches every path',
    );
  return { method, segments: segmentsOf(path) };
}

/** Returns for each request that matches a rule, in order of arrival, whether the fault applies. */
type Frequency = () => boolean;

const always: Frequency = () => true;

const allowedFrequencies =
  'use 10%, every 3 or first 5; without one, the rule applies to every request';
const wholeNumber = (word: string | undefined) =>
  word !== undefined && /^[1-9]\d{0,8}$/.test(word) ? Number(word) : undefined;

/** Reads the frequency of a rule. Throws `invalid_option` naming the wrong part. */
function readFrequency({ rule, text, at }: Part, random: Random): Frequency {
  const [word = '', number, ...rest] = text.split(' ').filter((one) => one !== '');
  const share = parseShare(word);
  const count = wholeNumber(number);
  let seen = 0;
  if (share !== undefined && number === undefined) return () => randomFraction(random) < share;
  if (word === 'every' && count !== undefined && rest.length === 0)
    return () => ++seen % count === 0;
  if (word === 'first' && count !== undefined && rest.length === 0) return () => ++seen <= count;
  throw malformedRule(rule, { part: text, at, allowed: allowedFrequencies });
}

/**
 * Reads one rule. Throws `invalid_option` naming the wrong part, its position and the allowed
 * values.
 *
 * @example readFaultRule('POST /devices/register=lose:every 3', random)
 */
export function readFaultRule(text: string, random: Random): FaultRule {
  const equals = text.indexOf('=');
  if (equals < 0)
    throw malformedRule(text, { part: '', at: text.length, allowed: `a rule is ${form}` });
  const part = (from: number, to: number): Part => ({
    rule: text,
    text: text.slice(from, to),
    at: from,
  });
  const colon = text.indexOf(':', equals);
  const target = readTarget(part(0, equals));
  const effect = readEffect(part(equals + 1, colon < 0 ? text.length : colon), target);
  return {
    text,
    target,
    effect,
    applies: colon < 0 ? always : readFrequency(part(colon + 1, text.length), random),
  };
}
