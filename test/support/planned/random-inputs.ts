import type { Clock } from '../../../src/domain/clock.ts';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import type { Entry, Item, Times } from './plan-oracle.ts';

/** Time zones, and a day on or near which their clocks change. */
const zones: [string, number][] = [
  ['Europe/Berlin', Date.UTC(2026, 9, 25)],
  ['Europe/Berlin', Date.UTC(2027, 2, 28)],
  ['America/Havana', Date.UTC(2026, 10, 1)],
  ['America/Havana', Date.UTC(2027, 2, 14)],
  ['America/St_Johns', Date.UTC(2026, 10, 1)],
  ['Africa/Cairo', Date.UTC(2026, 9, 29)],
  ['Africa/Cairo', Date.UTC(2027, 3, 29)],
  ['Australia/Lord_Howe', Date.UTC(2027, 3, 3)],
  ['America/Santiago', Date.UTC(2026, 8, 5)],
  ['America/Santiago', Date.UTC(2027, 3, 3)],
  ['Asia/Beirut', Date.UTC(2026, 9, 24)],
  ['Asia/Kathmandu', Date.UTC(2026, 10, 20)],
  ['Pacific/Kiritimati', Date.UTC(2026, 10, 20)],
  ['Pacific/Pago_Pago', Date.UTC(2026, 10, 20)],
];
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** A sequence of numbers from 0 to 1 that follows from a seed (mulberry32). */
function fractionsOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Times as they are stored. */
export const stored = <T extends Times>(times: T): T => ({
  ...times,
  ...(times.to === '24:00' && { to: '00:00' }),
});

/** Makes random hours, schedules and items around the time of a clock. */
export class RandomInputs {
  readonly #next: () => number;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(seed: number, clock: Pick<Clock, 'now'>) {
    this.#next = fractionsOf(seed);
    this.#clock = clock;
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  #listOf<T>(most: number, make: () => T): T[] {
    return Array.from({ length: 1 + this.below(most) }, make);
  }

  zone(): [name: string, around: number] {
    return this.oneOf(zones);
  }

  /** Returns a time in the next days, in epoch seconds. */
  soon(): number {
    return (Math.floor(this.#clock.now() / minuteMs) + 1 + this.below(2000)) * 60;
  }

  date(): string {
    return new Date(this.#clock.now() + (this.below(9) - 4) * dayMs).toISOString().slice(0, 10);
  }

  #dates(): { from: string; until: string } {
    const [from = '', until = ''] = [this.date(), this.date()].sort();
    return { from, until };
  }

  #days(): string[] {
    const some = weekdays.filter(() => this.chance(0.6));
    return some.length > 0 ? some : ['mon'];
  }

  #times(): { from: string; to: string } {
    const time = () =>
      `${String(this.below(24)).padStart(2, '0')}:${this.oneOf(['00', '00', '30', '15', '47'])}`;
    return { from: time(), to: this.chance(0.15) ? '24:00' : time() };
  }

  hours(): { hours: Times[] | null; hoursExceptions: Times[] | null } {
    const weekly = () => this.#listOf(3, () => ({ days: this.#days(), ...this.#times() }));
    const exceptions = () =>
      this.#listOf(3, () => ({ dates: this.#dates(), ...(this.chance(0.6) && this.#times()) }));
    return {
      hours: this.oneOf([() => null, () => [], weekly])(),
      hoursExceptions: this.chance(0.4) ? null : exceptions(),
    };
  }

  items(): Item[] {
    return this.#listOf(3, () => ({
      creativeId: `c0000000-0000-4000-8000-00000000000${1 + this.below(5)}`,
      duration: this.oneOf([5, 7.5, 10, 30]),
      ...(this.chance(0.6) && { campaign: this.oneOf(['summer', 'winter', 'spring']) }),
    }));
  }

  entries(hasZone: boolean): Entry[] {
    return this.#listOf(4, (): Entry => {
      const what = this.chance(0.2) ? { base: true as const } : { items: this.items() };
      if (!hasZone || this.chance(0.25)) {
        const at = this.soon() - this.below(3000) * 60;
        return { at, until: at + 60 * (1 + this.below(2000)), ...what };
      }
      const dates = this.oneOf([this.#dates(), { from: this.date() }, { until: this.date() }]);
      return {
        ...(this.chance(0.6) && this.#times()),
        ...(this.chance(0.4) && { days: this.#days() }),
        ...(this.chance(0.3) && { dates }),
        ...what,
      };
    });
  }
}
