import { dayMs, hourMs, minuteMs } from '../../domain/clock.ts';
import { readDuration } from '../../domain/duration.ts';
import type { SignageError } from '../../domain/error.ts';
import { readShare, wrongRule } from '../../domain/rule-text.ts';
import { type Pace, type Target, targets } from './fault.ts';

interface Word {
  text: string;
  /** Where it begins in the rule, from 0. */
  at: number;
}

const periodsMs: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: dayMs };
const spans = /^(\d+[a-z]*)(?:-(\d+[a-z]*))?$/;
const frequency = /^(\d{1,6}(?:\.\d{1,6})?)(%?)\/(m|h|d)$/;

const allowed = {
  share: 'there must be a share such as 20%, up to 100%',
  target: `there must be one of ${targets.join(', ')}`,
  span: 'there must be a span of time such as 200ms, 90s, 5m, 2h or 1d',
  spans: 'there must be a span of time such as 2s, or from one to another such as 200ms-2s',
  pace: 'there must be how often: every 6h, 1%/h or 2/d',
};

/** The words of a fault rule, read one after another; what does not fit is refused with its place, and with what would. */
export class FaultWords {
  /** How such a rule is written, for complaints. */
  form = '';
  readonly #rule: string;
  readonly #words: readonly Word[];
  #next = 0;

  /** Words are parted by colons or blanks. */
  constructor(rule: string) {
    this.#rule = rule;
    this.#words = [...rule.matchAll(/[^\s:]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
  }

  /** The first word: what kind of fault it is. */
  kind<K extends string>(kinds: readonly K[]): K {
    const found = kinds.find((kind) => kind === this.#text);
    if (found === undefined) throw this.#complaint(`a rule begins with one of ${kinds.join(', ')}`);
    this.#next++;
    return found;
  }

  /** Which calls; all, when it is left out. */
  target(): Target {
    const found = targets.find((target) => target === this.#text);
    if (found) this.#next++;
    return found ?? 'all';
  }

  /** From 0 to 1; `otherwise` when the rule ends here, if it may. */
  share(otherwise?: number): number {
    if (this.#isOver && otherwise !== undefined) return otherwise;
    return this.#take(readShare(this.#text), this.#isName ? allowed.target : allowed.share);
  }

  /** In milliseconds, and never 0. */
  span(): number {
    return this.#take(readDuration(this.#text) || undefined, allowed.span);
  }

  /** Two spans, `200ms-2s`, or one that is both. */
  spans(): readonly [leastMs: number, mostMs: number] {
    const [, first = '', second = first] = spans.exec(this.#text) ?? [];
    const [least = Number.NaN, most = Number.NaN] = [readDuration(first), readDuration(second)];
    return this.#take(
      least <= most && most > 0 ? ([least, most] as const) : undefined,
      this.#isName ? allowed.target : allowed.spans,
    );
  }

  /** Whether a span stands here, and not yet how often. */
  get hasSpan(): boolean {
    return readDuration(this.#text) !== undefined;
  }

  pace(): Pace {
    if (this.#text === 'every') {
      this.#next++;
      return { everyMs: this.span() };
    }
    const [, amount, percent, period = ''] = frequency.exec(this.#text) ?? [];
    const times = Number(amount) / (percent === '%' ? 100 : 1);
    return this.#take(
      times > 0 ? { times, inMs: periodsMs[period] ?? dayMs } : undefined,
      allowed.pace,
    );
  }

  /** Nothing may follow. */
  end(): void {
    if (!this.#isOver) throw this.#complaint('there must be nothing more');
  }

  #take<T>(value: T | undefined, wanted: string): T {
    if (value === undefined) throw this.#complaint(wanted);
    this.#next++;
    return value;
  }

  get #isOver(): boolean {
    return this.#next >= this.#words.length;
  }

  /** Whether a name stands where a number was to be. */
  get #isName(): boolean {
    return /^[a-z]/i.test(this.#text);
  }

  get #text(): string {
    return this.#words[this.#next]?.text ?? '';
  }

  #complaint(wanted: string): SignageError {
    const { text: part, at } = this.#words[this.#next] ?? { text: '', at: this.#rule.length };
    return wrongRule(this.#rule, {
      part,
      at,
      allowed: this.form === '' ? wanted : `${wanted}; ${this.form}`,
    });
  }
}
