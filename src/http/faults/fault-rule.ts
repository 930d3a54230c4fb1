import type { Random } from '../../domain/clock.ts';
import { wrongRule } from '../../domain/rule-text.ts';
import { type FaultEffect, type Part, readEffect } from './fault-effect.ts';
import { type FaultTarget, segmentsOf } from './fault-target.ts';
import { readTurn, type Turn } from './fault-turn.ts';

/** What goes wrong with which requests, and how often (docs/simulator.md). */
export interface FaultRule {
  /** As it was written. */
  text: string;
  target: FaultTarget;
  effect: FaultEffect;
  isTurn: Turn;
}

const form = '[METHOD] PATH=EFFECT[:HOW OFTEN], such as GET /devices/*/playlist=500:10%';
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function readTarget({ rule, text, at }: Part): FaultTarget {
  const words = text.split(' ').filter((word) => word !== '');
  const [path = '', method] = words.toReversed();
  const wrong = (part: string, allowed: string) =>
    wrongRule(rule, { part, at: at + Math.max(0, text.indexOf(part)), allowed });
  if (words.length > 2) throw wrong(text.trim(), `a rule is ${form}`);
  if (method !== undefined && !methods.includes(method))
    throw wrong(method, `there are the methods ${methods.join(', ')}`);
  if (path === '*') return { method, segments: undefined };
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#]/.test(path))
    throw wrong(
      path,
      'a path begins with /, with * for any one segment; * alone stands for every path',
    );
  return { method, segments: segmentsOf(path) };
}

const always: Turn = () => true;

/**
 * Reads one rule. Throws `invalid_option` that says which part is wrong, where it stands, and what there may be.
 *
 * @example readFaultRule('POST /devices/register=lose:every 3', random)
 */
export function readFaultRule(text: string, random: Random): FaultRule {
  const equals = text.indexOf('=');
  if (equals < 0)
    throw wrongRule(text, { part: '', at: text.length, allowed: `a rule is ${form}` });
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
    isTurn: colon < 0 ? always : readTurn(part(colon + 1, text.length), random),
  };
}
