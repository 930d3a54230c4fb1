import { dayMs, hourMs, minuteMs, secondMs } from '../domain/clock.ts';
import { parseDuration } from '../domain/duration.ts';
import { SignageError } from '../domain/error.ts';
import { errorKinds, type ServiceErrorCode } from '../wire/errors.ts';
import { tvCalls } from './tv-call.ts';

/** Reads the words of a rule one after another. Colons or blanks separate words. */
class RuleWords {
  readonly #rule: string;
  readonly #words: readonly { text: string; at: number }[];
  #next = 0;
  /** The values that were possible at the current word. */
  #wanted: string[] = [];
  /** The syntax of the rule, for error messages. */
  form = '';

  constructor(rule: string) {
    this.#rule = rule;
    this.#words = [...rule.matchAll(/[^\s:]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
  }

  get first(): string {
    return this.#words[0]?.text ?? '';
  }

  get text(): string {
    return this.#words[this.#next]?.text ?? '';
  }

  /** Takes the current word, unless its value is `undefined`. Returns the value. */
  may<T>(value: T | undefined, wanted: string): T | undefined {
    if (value === undefined) this.#wanted.push(wanted);
    else {
      this.#next++;
      this.#wanted = [];
    }
    return value;
  }

  /** Takes the current word. Throws `invalid_option` if its value is `undefined`. */
  need<T>(value: T | undefined, wanted: string): T {
    const taken = this.may(value, wanted);
    if (taken === undefined) throw this.#complaint();
    return taken;
  }

  /** Throws `invalid_option` if words are left. */
  end(): void {
    if (this.#next < this.#words.length) throw this.#complaint();
  }

  /** Names the wrong word, its place and the allowed values. */
  #complaint(): SignageError {
    const { text, at } = this.#words[this.#next] ?? { text: '', at: this.#rule.length };
    const problem =
      text === ''
        ? `something is missing at character ${at + 1}`
        : `"${text}" (character ${at + 1}) is not understood`;
    const wanted = `expected ${this.#wanted.join('; or ') || 'the end of the rule'}${this.form}`;
    return new SignageError(
      'invalid_option',
      `In the fault rule "${this.#rule}", ${problem}: ${wanted}.`,
    );
  }
}

/** A parameter of a kind of fault: its syntax, and a function that reads it. */
interface Parameter<T> {
  form: string;
  read(words: RuleWords): T;
}

/** Returns `text` if it is one of the values. */
const among = <T extends string>(values: readonly T[], text: string): T | undefined =>
  values.find((value) => value === text);

function shareOf(text: string): number | undefined {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  const value = Number(percent) / 100;
  return value > 0 && value <= 1 ? value : undefined;
}

const targets = [...tvCalls, 'all'] as const;
const what: Parameter<(typeof targets)[number]> = {
  form: '[:WHAT]',
  read: (words) => words.may(among(targets, words.text), `one of ${targets.join(', ')}`) ?? 'all',
};

/** How often a rule hits the requests that it names. */
type Frequency = { share: number } | { every: number } | { first: number };
const often: Parameter<Frequency> = {
  form: '[:HOW OFTEN]',
  read(words) {
    const wanted = 'a frequency such as 20%, every 3 or first 5';
    const share = words.may(shareOf(words.text), wanted);
    if (share !== undefined) return { share };
    const word = among(['every', 'first'], words.text);
    if (!word) return { share: 1 };
    words.may(word, '');
    const count = /^[1-9]\d{0,8}$/.test(words.text) ? Number(words.text) : undefined;
    const number = words.need(count, 'a whole number above 0');
    return word === 'every' ? { every: number } : { first: number };
  },
};

/** Times from `fromMs` to `toMs`. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
}

function rangeOf(text: string): TimeRange | undefined {
  const [fromMs, toMs = fromMs, more] = text.split('-', 3).map(parseDuration);
  const isRange = fromMs !== undefined && toMs !== undefined && more === undefined;
  const isWhole = text.split('-').length < 3;
  return isRange && isWhole && fromMs <= toMs && toMs > 0 ? { fromMs, toMs } : undefined;
}

const range: Parameter<TimeRange> = {
  form: ':SPAN[-SPAN]',
  read: (words) =>
    words.need(rangeOf(words.text), 'a duration such as 2s, or a range such as 200ms-2s'),
};

const spanWanted = 'a duration such as 200ms, 90s, 5m, 2h or 1d';
const spanOf = (text: string) => parseDuration(text) || undefined;
const span: Parameter<number> = {
  form: ':SPAN',
  read: (words) => words.need(spanOf(words.text), spanWanted),
};
const spanOrMinute: Parameter<number> = {
  form: '[:SPAN]',
  read: (words) => words.may(spanOf(words.text), spanWanted) ?? minuteMs,
};

const statusOf = (text: string) => (/^[45]\d\d$/.test(text) ? Number(text) : undefined);
const status: Parameter<number> = {
  form: 'STATUS',
  read: (words) => words.need(statusOf(words.text), 'a status from 400 to 599'),
};

/** An error code. `uncoded`: the answer has no code, like the answer of a proxy. */
const code: Parameter<ServiceErrorCode | 'uncoded' | undefined> = {
  form: '[:CODE]',
  read(words) {
    const all = Object.keys(errorKinds) as ServiceErrorCode[];
    const codes = all.filter((one) => errorKinds[one].status === statusOf(words.first));
    const allowed = [...codes, 'uncoded'] as const;
    return words.may(among(allowed, words.text), `one of the codes ${allowed.join(', ')}`);
  },
};

const retryAfterSeconds: Parameter<number | undefined> = {
  form: '[:retry SPAN]',
  read(words) {
    if (!words.may(among(['retry'], words.text), 'retry with a duration')) return undefined;
    const seconds = (parseDuration(words.text) ?? Number.NaN) / secondMs;
    const wanted = 'whole seconds such as 30s or 2m';
    return words.need(Number.isInteger(seconds) ? seconds : undefined, wanted);
  },
};

/**
 * How often a fault recurs, by the TV's own clock. With `everyMs`, it occurs once at a random time
 * in each interval. Otherwise it occurs as a Poisson process, on average `times` per `inMs`.
 */
export type Pace = { everyMs: number } | { times: number; inMs: number };

const periodMs: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: dayMs };
const pace: Parameter<Pace> = {
  form: ':PACE',
  read(words) {
    if (words.text === 'every') {
      words.may('every', '');
      return { everyMs: span.read(words) };
    }
    const [, amount, percent, period = ''] =
      /^(\d{1,6}(?:\.\d{1,6})?)(%?)\/(m|h|d)$/.exec(words.text) ?? [];
    const times = Number(amount) / (percent === '%' ? 100 : 1);
    const found = times > 0 ? { times, inMs: periodMs[period] ?? dayMs } : undefined;
    return words.need(found, 'a frequency such as every 6h, 1%/h or 2/d');
  },
};

const share: Parameter<number> = {
  form: ':SHARE',
  read: (words) => words.need(shareOf(words.text), 'a share such as 20%, up to 100%'),
};

/** The kinds of faults, each with its parameters in order (docs/faults.md). */
const grammar = {
  status: { status, what, code, retryAfterSeconds, often },
  'lost-request': { what, often },
  'lost-answer': { what, often },
  'cut-answer': { what, often },
  duplicate: { what, often },
  'at-once': { what, often },
  slow: { what, range, often },
  timeout: { what, range, often },
  offline: { lastsMs: span, pace },
  'clock-skew': { byMs: span },
  'clock-jump': { byMs: span, pace },
  'power-cut': { lastsMs: spanOrMinute, pace },
  'factory-reset': { pace },
  'shared-code': { share },
  'revoked-key': { pace },
};
type Grammar = typeof grammar;
type FaultKind = keyof Grammar;
type Parameters<K extends FaultKind> = {
  [P in keyof Grammar[K]]: Grammar[K][P] extends Parameter<infer T> ? T : never;
};

/** A fault with the text of its rule. The text identifies the rule in reports. */
export type Fault = { [K in FaultKind]: { kind: K; rule: string } & Parameters<K> }[FaultKind];
/** A fault of single requests. */
export type RequestFault = Extract<Fault, { often: Frequency }>;
/** A fault that recurs during the life of a simulated TV. */
export type LifeFault = Extract<Fault, { pace: Pace }>;

export const isRequestFault = (fault: Fault): fault is RequestFault => 'often' in fault;
export const isLifeFault = (fault: Fault): fault is LifeFault => 'pace' in fault;

export const faultKinds = Object.keys(grammar) as FaultKind[];
const serviceKinds = faultKinds.filter((kind) => 'often' in grammar[kind] && kind !== 'duplicate');

function parse(rule: string, kinds: readonly FaultKind[]): Fault {
  const words = new RuleWords(rule);
  const names = kinds.filter((kind) => kind !== 'status');
  const kind =
    statusOf(words.text) === undefined
      ? words.need(among(names, words.text), `a status from 400 to 599, ${names.join(', ')}`)
      : 'status';
  const parameters = Object.entries<Parameter<unknown>>(grammar[kind]);
  words.form = `; write ${kind === 'status' ? '' : kind}${parameters.map(([, { form }]) => form).join('')}`;
  const values = parameters.map(([name, parameter]) => [name, parameter.read(words)]);
  words.end();
  return { kind, ...Object.fromEntries(values), rule };
}

/**
 * Parses a fault rule: `lost-answer:register:20%`, `503:events retry 30s every 2`,
 * `offline:5m every 1h`. Throws `invalid_option` with the place of the error and the allowed
 * values.
 */
export const parseFault = (rule: string): Fault => parse(rule, faultKinds);

/** Parses a rule of a service, which can only inject faults of single requests. */
export const parseServiceFault = (rule: string) => parse(rule, serviceKinds) as RequestFault;
