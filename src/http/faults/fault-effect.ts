import { secondMs } from '../../domain/clock.ts';
import { readDuration } from '../../domain/duration.ts';
import { wrongRule } from '../../domain/rule-text.ts';
import type { ErrorCode } from '../../wire/errors.ts';
import { documentedCodes, type FaultTarget } from './fault-target.ts';

/** An answer in place of the service's own. */
export interface Refusal {
  kind: 'status';
  status: number;
  /** The one that the path documents unless named. */
  code: ErrorCode | undefined;
  retryAfterSeconds: number | undefined;
}

/** The answer comes this much later. */
interface Delay {
  kind: 'delay';
  fromMs: number;
  toMs: number;
}

/** `truncate`: the answer breaks off half-way. `drop`: the connection breaks before the request is handled; `lose`: after, so that the answer is lost. */
interface Breakage {
  kind: 'truncate' | 'drop' | 'lose';
}

export type FaultEffect = Refusal | Delay | Breakage;

/** A part of a rule and where it stands. */
export interface Part {
  rule: string;
  text: string;
  at: number;
}

const allowed =
  'there is a status from 400 to 599 (500, 401 device_key_revoked, 503 retry 30s), delay 2s, delay 100ms-2s, truncate, drop and lose';

function wrongWord({ rule, text, at }: Part, word: string, allowed: string) {
  return wrongRule(rule, { part: word, at: at + text.lastIndexOf(word), allowed });
}

function readCode(part: Part, target: FaultTarget, status: number, word: string): ErrorCode {
  const codes = documentedCodes(target, status);
  const code = codes.find((one) => one === word);
  if (code !== undefined) return code;
  throw wrongWord(
    part,
    word,
    codes.length === 0
      ? `no code is documented there with ${status}`
      : `with ${status} there is ${codes.join(', ')}`,
  );
}

function readRetry(part: Part, word: string): number {
  const spanMs = readDuration(word);
  if (spanMs === undefined || spanMs % secondMs !== 0)
    throw wrongWord(part, word, 'retry takes whole seconds, such as 30s or 2m');
  return spanMs / secondMs;
}

function readRefusal(
  part: Part,
  target: FaultTarget,
  status: number,
  words: readonly string[],
): Refusal {
  const [first, ...others] = words;
  const code =
    first === undefined || first === 'retry' ? undefined : readCode(part, target, status, first);
  const [retry, span, ...rest] = code === undefined ? words : others;
  const wrong = [retry === 'retry' ? undefined : retry, ...rest].find((word) => word !== undefined);
  if (wrong !== undefined)
    throw wrongWord(part, wrong, 'after a status come its code, and retry with a span of time');
  if (retry !== undefined && span === undefined)
    throw wrongRule(part.rule, {
      part: '',
      at: part.at + part.text.length,
      allowed: 'retry takes whole seconds, such as 30s',
    });
  return {
    kind: 'status',
    status,
    code,
    retryAfterSeconds: span === undefined ? undefined : readRetry(part, span),
  };
}

function readDelay(part: Part, word: string): Delay {
  const [fromMs, toMs = fromMs, more] = word.split('-').map(readDuration);
  if (
    fromMs === undefined ||
    toMs === undefined ||
    toMs < fromMs ||
    more !== undefined ||
    word.split('-').length > 2
  ) {
    throw wrongWord(
      part,
      word,
      'delay takes a span of time, or two for a range, such as 2s or 100ms-2s',
    );
  }
  return { kind: 'delay', fromMs, toMs };
}

/** What goes wrong. Throws `invalid_option` with what is wrong in the rule. */
export function readEffect(part: Part, target: FaultTarget): FaultEffect {
  const [word = '', ...words] = part.text.split(' ').filter((one) => one !== '');
  const status = /^\d{3}$/.test(word) ? Number(word) : 0;
  if (status >= 400 && status <= 599) return readRefusal(part, target, status, words);
  if (word === 'delay' && words.length < 2) return readDelay(part, words[0] ?? '');
  if ((word === 'truncate' || word === 'drop' || word === 'lose') && words.length === 0)
    return { kind: word };
  throw wrongRule(part.rule, { part: part.text, at: part.at, allowed });
}
