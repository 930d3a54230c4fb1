import { type Random, secondMs } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import { malformedRule, parseShare, randomFraction } from '../../faults/rule-text.ts';
import type { ServiceErrorCode } from '../../wire/errors.ts';
import { documentedCodes, type FaultTarget, isUnknownTarget, segmentsOf } from './fault-target.ts';

/** An error response that replaces the response of the service. */
export interface StatusEffect {
  kind: 'status';
  status: number;
  /** Error code of the response. Default: the code documented for the path. */
  code: ServiceErrorCode | undefined;
  retryAfterSeconds: number | undefined;
}

/** Range of a random time. */
interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** Delays the response. */
interface Delay extends TimeRange {
  kind: 'delay';
}

/** Breaks the connection if there is no response after this time, like a proxy with a time-out. */
interface Cut extends TimeRange {
  kind: 'cut';
}

/**
 * `truncate`: the connection breaks in the middle of the response. `drop`: it breaks before the
 * request is handled. `lose`: it breaks after the request was handled, and the response is lost.
 */
interface Breakage {
  kind: 'truncate' | 'drop' | 'lose';
}

export type FaultEffect = StatusEffect | Delay | Cut | Breakage;

/** A part of a rule. `at` is its offset in the rule, in characters. */
interface Part {
  rule: string;
  text: string;
  at: number;
}

const allowed =
  'use a status from 400 to 599 (500, 401 device_key_revoked, 503 retry 30s), delay 2s, delay 100ms-2s, cut 20s, truncate, drop or lose';

function wrongWord({ rule, text, at }: Part, word: string, allowed: string) {
  return malformedRule(rule, { part: word, at: at + text.lastIndexOf(word), allowed });
}

function readCode(part: Part, target: FaultTarget, status: number, word: string): ServiceErrorCode {
  const codes = documentedCodes(target, status);
  const code = codes.find((one) => one === word);
  if (code !== undefined) return code;
  throw wrongWord(
    part,
    word,
    codes.length === 0
      ? `no code is documented for this path with ${status}`
      : `with ${status}, use ${codes.join(', ')}`,
  );
}

function readRetry(part: Part, word: string): number {
  const retryMs = parseDuration(word);
  if (retryMs === undefined || retryMs % secondMs !== 0)
    throw wrongWord(part, word, 'retry takes whole seconds, such as 30s or 2m');
  return retryMs / secondMs;
}

function readStatusEffect(
  part: Part,
  target: FaultTarget,
  status: number,
  words: readonly string[],
): StatusEffect {
  const [first, ...others] = words;
  const code =
    first === undefined || first === 'retry' ? undefined : readCode(part, target, status, first);
  const [retry, retryText, ...rest] = code === undefined ? words : others;
  const wrong = [retry === 'retry' ? undefined : retry, ...rest].find((word) => word !== undefined);
  if (wrong !== undefined)
    throw wrongWord(
      part,
      wrong,
      'a status may be followed by a code, and by retry with a duration',
    );
  if (retry !== undefined && retryText === undefined)
    throw malformedRule(part.rule, {
      part: '',
      at: part.at + part.text.length,
      allowed: 'retry takes whole seconds, such as 30s',
    });
  return {
    kind: 'status',
    status,
    code,
    retryAfterSeconds: retryText === undefined ? undefined : readRetry(part, retryText),
  };
}

function readTimeRange(part: Part, kind: 'delay' | 'cut', word: string): Delay | Cut {
  const [fromMs, toMs = fromMs, more] = word.split('-').map(parseDuration);
  if (
    fromMs === undefined ||
    toMs === undefined ||
    toMs < fromMs ||
    more !== undefined ||
    word.split('-').length > 2
  ) {
    throw wrongWord(part, word, `${kind} takes a duration or a range, such as 2s or 100ms-2s`);
  }
  return { kind, fromMs, toMs };
}

/** Reads the effect of a rule. Throws `invalid_option` naming the wrong part. */
function readEffect(part: Part, target: FaultTarget): FaultEffect {
  const [word = '', ...words] = part.text.split(' ').filter((one) => one !== '');
  const status = /^\d{3}$/.test(word) ? Number(word) : 0;
  if (status >= 400 && status <= 599) return readStatusEffect(part, target, status, words);
  if ((word === 'delay' || word === 'cut') && words.length < 2)
    return readTimeRange(part, word, words[0] ?? '');
  if ((word === 'truncate' || word === 'drop' || word === 'lose') && words.length === 0)
    return { kind: word };
  throw malformedRule(part.rule, { part: part.text, at: part.at, allowed });
}

/** One fault rule: the matching requests, the effect and the frequency (docs/faults.md). */
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
      'a path begins with / and may have * for any segment; * alone matches every path',
    );
  const target = { method, segments: segmentsOf(path) };
  if (isUnknownTarget(target))
    throw wrong(path, 'the service has no such path or method (docs/protocol.md §2, §5.3)');
  return target;
}

/**
 * Decides whether the fault applies to a request. Called once for each request that matches the
 * rule, in order of arrival.
 */
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
