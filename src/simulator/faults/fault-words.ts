import { dayMs, hourMs, minuteMs } from '../../domain/clock.ts';
import { parseDuration } from '../../domain/duration.ts';
import type { SignageError } from '../../domain/error.ts';
import { malformedRule, parseShare } from '../../domain/rule-text.ts';
import { type Pace, type Target, targets } from './fault.ts';

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
export class FaultWords {
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

  /** Reads a share, from 0 to 1. Returns `otherwise` if given and the rule ends here. */
  share(otherwise?: number): number {
    if (this.#isOver && otherwise !== undefined) return otherwise;
    return this.#take(parseShare(this.#text), this.#isName ? allowed.target : allowed.share);
  }

  /** Reads a positive duration, in milliseconds. */
  span(): number {
    return this.#take(parseDuration(this.#text) || undefined, allowed.span);
  }

  /** Reads a range such as `200ms-2s`, in milliseconds. A single duration is both ends. */
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

  /** Throws unless all words have been read. */
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

  /** Whether a name stands in place of a number. */
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
