import { dayMs, hourMs, minuteMs } from '../domain/clock.ts';
import { parseDuration } from '../domain/duration.ts';
import type { SignageError } from '../domain/error.ts';
import {
  type Fault,
  type LifeFault,
  type LinkFault,
  type Pace,
  type Rule,
  type Target,
  targets,
} from './fault.ts';
import { malformedRule, parseShare } from './rule-text.ts';

interface Word {
  text: string;
  /** Offset in the rule, from 0. */
  at: number;
}

const periodMs: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: dayMs };
const durationRange = /^(\d+[a-z]*)(?:-(\d+[a-z]*))?$/;
const frequencyPattern = /^(\d{1,6}(?:\.\d{1,6})?)(%?)\/(m|h|d)$/;

const allowed = {
  share: 'expected a share such as 20%, up to 100%',
  target: `expected one of ${targets.join(', ')}`,
  span: 'expected a duration such as 200ms, 90s, 5m, 2h or 1d',
  spans: 'expected a duration such as 2s, or a range such as 200ms-2s',
  pace: 'expected a frequency such as every 6h, 1%/h or 2/d',
};

/**
 * Reads the words of a fault rule one after another. An unexpected word throws `invalid_option`
 * with its place and the allowed values.
 */
class FaultWords {
  /** The syntax of the rule, for error messages. */
  form = '';
  readonly #rule: string;
  readonly #words: readonly Word[];
  #next = 0;

  /** Colons or blanks separate words. */
  constructor(rule: string) {
    this.#rule = rule;
    this.#words = [...rule.matchAll(/[^\s:]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
  }

  /** Reads the first word: the kind of fault. */
  kind<K extends string>(kinds: readonly K[]): K {
    const found = kinds.find((kind) => kind === this.#text);
    if (found === undefined) throw this.#complaint(`a rule begins with one of ${kinds.join(', ')}`);
    this.#next++;
    return found;
  }

  /** Reads the calls that the fault affects. Default: all. */
  target(): Target {
    const found = targets.find((target) => target === this.#text);
    if (found) this.#next++;
    return found ?? 'all';
  }

  /** Reads a share, from 0 to 1. Returns `otherwise` if it is given and the rule ends here. */
  share(otherwise?: number): number {
    if (this.#isOver && otherwise !== undefined) return otherwise;
    return this.#take(parseShare(this.#text), this.#isName ? allowed.target : allowed.share);
  }

  /** Reads a positive duration, in milliseconds. */
  span(): number {
    return this.#take(parseDuration(this.#text) || undefined, allowed.span);
  }

  /**
   * Reads a range such as `200ms-2s`, in milliseconds. A single duration is both the minimum and
   * the maximum.
   */
  spans(): readonly [leastMs: number, mostMs: number] {
    const [, first = '', second = first] = durationRange.exec(this.#text) ?? [];
    const least = parseDuration(first) ?? Number.NaN;
    const most = parseDuration(second) ?? Number.NaN;
    return this.#take(
      least <= most && most > 0 ? ([least, most] as const) : undefined,
      this.#isName ? allowed.target : allowed.spans,
    );
  }

  /** Whether the next word is a duration. */
  get hasSpan(): boolean {
    return parseDuration(this.#text) !== undefined;
  }

  pace(): Pace {
    if (this.#text === 'every') {
      this.#next++;
      return { everyMs: this.span() };
    }
    const [, amount, percent, period = ''] = frequencyPattern.exec(this.#text) ?? [];
    const times = Number(amount) / (percent === '%' ? 100 : 1);
    return this.#take(
      times > 0 ? { times, inMs: periodMs[period] ?? dayMs } : undefined,
      allowed.pace,
    );
  }

  /** Throws `invalid_option` if words are left. */
  end(): void {
    if (!this.#isOver) throw this.#complaint('expected the end of the rule');
  }

  #take<T>(value: T | undefined, wanted: string): T {
    if (value === undefined) throw this.#complaint(wanted);
    this.#next++;
    return value;
  }

  get #isOver(): boolean {
    return this.#next >= this.#words.length;
  }

  /** Whether the next word begins with a letter, so that it is a name instead of a number. */
  get #isName(): boolean {
    return /^[a-z]/i.test(this.#text);
  }

  get #text(): string {
    return this.#words[this.#next]?.text ?? '';
  }

  #complaint(wanted: string): SignageError {
    const { text: part, at } = this.#words[this.#next] ?? { text: '', at: this.#rule.length };
    return malformedRule(this.#rule, {
      part,
      at,
      allowed: this.form === '' ? wanted : `${wanted}; ${this.form}`,
    });
  }
}

/**
 * One kind of fault: the syntax of its rule, and a function that reads the words after the name.
 */
interface Kind {
  form: string;
  example: string;
  /** Description of the fault, in one sentence. */
  about: string;
  read(words: FaultWords): Fault;
}

const requestFault = (
  kind: Exclude<LinkFault['kind'], 'slow'>,
  example: string,
  about: string,
): Kind => ({
  form: `${kind}[:WHAT]:SHARE`,
  example,
  about,
  read: (words) => ({ kind, target: words.target(), share: words.share() }),
});

const recurringFault = (
  kind: 'factory-reset' | 'revoked-key',
  example: string,
  about: string,
): Kind => ({
  form: `${kind}:PACE`,
  example,
  about,
  read: (words) => ({ kind, pace: words.pace() }),
});

function readSlow(words: FaultWords): Fault {
  const target = words.target();
  const [leastMs, mostMs] = words.spans();
  return { kind: 'slow', target, leastMs, mostMs, share: words.share(1) };
}

function readTimedFault(
  kind: 'offline' | 'power-cut',
  words: FaultWords,
  defaultMs?: number,
): LifeFault {
  const lastsMs = defaultMs === undefined || words.hasSpan ? words.span() : defaultMs;
  return { kind, lastsMs, pace: words.pace() };
}

const defaultCutMs = 60_000;

/** All kinds of faults, by the first word of their rules. */
export const faultKinds: Readonly<Record<Fault['kind'], Kind>> = {
  'lost-request': requestFault(
    'lost-request',
    'lost-request:events:5%',
    'the request never arrives',
  ),
  'lost-answer': requestFault(
    'lost-answer',
    'lost-answer:register:20%',
    'the request arrives, and the TV never gets the answer',
  ),
  'cut-answer': requestFault(
    'cut-answer',
    'cut-answer:playlist:10%',
    'the connection breaks in the middle of the answer',
  ),
  duplicate: requestFault(
    'duplicate',
    'duplicate:events:20%',
    'the request arrives twice; the TV gets the second answer',
  ),
  slow: {
    form: 'slow[:WHAT]:SPAN[-SPAN][:SHARE]',
    example: 'slow:events:200ms-2s:30%',
    about: 'the request is delayed by this long',
    read: readSlow,
  },
  offline: {
    form: 'offline:SPAN:PACE',
    example: 'offline:5m every 1h',
    about: 'the TV has no network for this long',
    read: (words) => readTimedFault('offline', words),
  },
  'clock-skew': {
    form: 'clock-skew:SPAN',
    example: 'clock-skew:2h',
    about: 'each clock is wrong from the start, by up to this much in either direction',
    read: (words) => ({ kind: 'clock-skew', byMs: words.span() }),
  },
  'clock-jump': {
    form: 'clock-jump:SPAN:PACE',
    example: 'clock-jump:10m every 6h',
    about: 'the clock jumps, by up to this much in either direction',
    read: (words) => ({ kind: 'clock-jump', byMs: words.span(), pace: words.pace() }),
  },
  'power-cut': {
    form: 'power-cut[:SPAN]:PACE',
    example: 'power-cut:1%/h',
    about:
      'the power fails for this long (default: 1m), at any point; the TV keeps what it has saved',
    read: (words) => readTimedFault('power-cut', words, defaultCutMs),
  },
  'factory-reset': recurringFault(
    'factory-reset',
    'factory-reset:every 12h',
    'the TV loses all its data and is paired again',
  ),
  'shared-code': {
    form: 'shared-code:SHARE',
    example: 'shared-code:50%',
    about:
      'in this share of TV pairs, both try the same code: one gets it, the other asks for another',
    read: (words) => ({ kind: 'shared-code', share: words.share() }),
  },
  'revoked-key': recurringFault(
    'revoked-key',
    'revoked-key:2/d',
    'the TV is revoked and paired again; a client keeps using the old key, which must give 401',
  ),
};

/**
 * Parses a fault rule. Colons or blanks separate words: `lost-answer:register:20%`, `offline:5m
 * every 1h`. Throws `invalid_option` with the place of the error and the allowed values.
 */
export function parseFault(rule: string): Rule {
  const words = new FaultWords(rule);
  const kind = faultKinds[words.kind(Object.keys(faultKinds) as Fault['kind'][])];
  words.form = `write ${kind.form}, such as ${kind.example}`;
  const fault = kind.read(words);
  words.end();
  return { ...fault, rule };
}
