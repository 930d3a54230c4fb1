import { secondMs } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import { malformedRule } from '../../domain/rule-text.ts';
import type { ErrorCode } from '../../wire/errors.ts';
import { documentedCodes, type FaultTarget } from './fault-target.ts';

/** An error response in place of the service's own. */
export interface StatusEffect {
  kind: 'status';
  status: number;
  /** Default: the code documented for the path. */
  code: ErrorCode | undefined;
  retryAfterSeconds: number | undefined;
}

/** Delays the response by a random time in this range. */
interface Delay {
  kind: 'delay';
  fromMs: number;
  toMs: number;
}

/**
 * `truncate`: the connection breaks in the middle of the response. `drop`: it breaks before the
 * request is handled. `lose`: it breaks after that, so that the response is lost.
 */
interface Breakage {
  kind: 'truncate' | 'drop' | 'lose';
}

export type FaultEffect = StatusEffect | Delay | Breakage;

/** A part of a rule, and its index in the rule. */
export interface Part {
  rule: string;
  text: string;
  at: number;
}

const allowed =
  'use a status from 400 to 599 (500, 401 device_key_revoked, 503 retry 30s), delay 2s, delay 100ms-2s, truncate, drop or lose';

function wrongWord({ rule, text, at }: Part, word: string, allowed: string) {
  return malformedRule(rule, { part: word, at: at + text.lastIndexOf(word), allowed });
}

function readCode(part: Part, target: FaultTarget, status: number, word: string): ErrorCode {
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

function readDelay(part: Part, word: string): Delay {
  const [fromMs, toMs = fromMs, more] = word.split('-').map(parseDuration);
  if (
    fromMs === undefined ||
    toMs === undefined ||
    toMs < fromMs ||
    more !== undefined ||
    word.split('-').length > 2
  ) {
    throw wrongWord(part, word, 'delay takes a duration or a range, such as 2s or 100ms-2s');
  }
  return { kind: 'delay', fromMs, toMs };
}

/** Reads the effect of a rule. Throws `invalid_option` naming the wrong part. */
export function readEffect(part: Part, target: FaultTarget): FaultEffect {
  const [word = '', ...words] = part.text.split(' ').filter((one) => one !== '');
  const status = /^\d{3}$/.test(word) ? Number(word) : 0;
  if (status >= 400 && status <= 599) return readStatusEffect(part, target, status, words);
  if (word === 'delay' && words.length < 2) return readDelay(part, words[0] ?? '');
  if ((word === 'truncate' || word === 'drop' || word === 'lose') && words.length === 0)
    return { kind: word };
  throw malformedRule(part.rule, { part: part.text, at: part.at, allowed });
}
