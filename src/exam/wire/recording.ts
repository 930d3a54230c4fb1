import type { Clock } from '../../domain/clock.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import type { TvAnswer, TvExchange, TvRequest } from './exchange.ts';

/** A moment of the exam, such as the publication of a playlist. */
export interface Mark {
  name: string;
  atMs: number;
}

/** The recorded data that a resumed exam continues with. */
export interface SavedRecording {
  exchanges: readonly TvExchange[];
  marks: readonly Mark[];
  /**
   * Pairs of a code's fingerprint and the address that used the code first. `null`: not used yet.
   */
  codes: readonly (readonly [code: string, address: string | null])[];
  keys: readonly string[];
}

/**
 * Maximum number of recorded exchanges, so that a flood cannot fill the memory. A correct TV sends
 * a few hundred requests in an exam. The exam ends at this number.
 */
export const maxExchanges = 3000;

/** The requests of the TV, and the marks that the checks refer to. */
export class Recording {
  readonly #clock: Clock;
  readonly #onAdd: (exchange: TvExchange) => void;
  #exchanges: TvExchange[] = [];
  #strangers = 0;
  #marks: Mark[] = [];
  /**
   * For each fingerprint of a code, the address that used the code first. `null`: not used yet.
   * When the TV registers again, its address may differ.
   */
  readonly #codes = new Map<string, string | null>();
  /** Fingerprints of the device keys that the service returned to the TV. */
  readonly #keys = new Set<string>();
  #listeners = new Set<(added?: TvExchange) => void>();
  #number = 0;

  /** `onAdd` is called with each exchange of the TV. */
  constructor(clock: Clock, onAdd: (exchange: TvExchange) => void = () => {}) {
    this.#clock = clock;
    this.#onAdd = onAdd;
  }

  /** The exchanges of the TV, in order of arrival. */
  get ofTv(): readonly TvExchange[] {
    return this.#exchanges;
  }

  /** Number of requests from other TVs and programs. */
  get strangers(): number {
    return this.#strangers;
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  nextNumber(): number {
    this.#number++;
    return this.#number;
  }

  /** Adds a code of the exam, as a fingerprint. */
  addCode(code: string): void {
    this.#codes.set(code, null);
  }

  /**
   * Returns whether a request comes from the TV of the exam. A registration needs a code of the
   * exam, from the address that used the code first. A request with a key needs a key of the exam.
   * All other requests need the TV's address.
   */
  isOfTv({ operation, pairingCode, key, address }: TvRequest): boolean {
    if (operation === 'registerDevice') {
      const firstAddress = this.#codes.get(pairingCode ?? '');
      return firstAddress === null || firstAddress === address;
    }
    if (key !== undefined) return this.#keys.has(key);
    return [...this.#codes.values()].includes(address);
  }

  /** Remembers the new key of an answer. Call this before the TV gets the answer. */
  learn({ newKey }: TvAnswer): void {
    if (newKey !== undefined) this.#keys.add(newKey);
  }

  /** Reserves a code for the address of this request. */
  claim({ pairingCode, address }: TvRequest): void {
    if (pairingCode !== undefined) this.#codes.set(pairingCode, address);
  }

  addStranger(): void {
    this.#strangers++;
  }

  add(exchange: TvExchange): void {
    if (this.#exchanges.length >= maxExchanges) return;
    // Inserts by number, because exchanges do not end in the order in which they begin. Most
    // exchanges are inserted at the end.
    const later = this.#exchanges.findLastIndex(({ number }) => number < exchange.number);
    this.#exchanges.splice(later + 1, 0, exchange);
    this.#onAdd(exchange);
    this.#notify(exchange);
  }

  mark(name: string): void {
    this.#marks.push({ name, atMs: this.#clock.now() });
    this.#notify();
  }

  /**
   * Calls `listener` after each change, with the exchange that was added, if any. Returns a
   * function that removes the listener.
   */
  onChange(listener: (added?: TvExchange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #notify(added?: TvExchange): void {
    for (const listener of this.#listeners) listener(added);
  }

  save(): SavedRecording {
    return {
      exchanges: this.#exchanges,
      marks: this.#marks,
      codes: [...this.#codes],
      keys: [...this.#keys],
    };
  }

  load({ exchanges, marks, codes, keys }: SavedRecording): void {
    this.#exchanges = [...exchanges];
    this.#marks = [...marks];
    for (const [code, address] of codes) this.#codes.set(code, address);
    for (const key of keys) this.#keys.add(key);
    this.#number = largest(
      exchanges.map(({ number }) => number),
      0,
    );
  }
}
