import { contentHash, HashList } from './content-hash.ts';

/** How one try of sending a batch ended: with 202, with an answer that says that nothing was stored, or so that nobody knows. */
export type TryEnd = 'acknowledged' | 'refused' | 'unknown';

/** What comparing one device came to, in events. */
export interface DeviceBalance {
  acknowledged: number;
  stored: number;
  /** Acknowledged and not stored. */
  lost: number;
  /** Stored more often than they were sent under different keys. */
  duplicated: number;
  /** Stored, and never sent or refused each time. */
  strange: number;
}

/** A batch that is not acknowledged; with a key it may be there once, without one as often as nobody knows. */
interface OpenBatch {
  hashes: readonly number[];
  underWay: number;
  unknown: number;
}

/** A TV settles a batch before it sends the next, so that a repeat follows soon after. */
const rememberedKeys = 4;

/** What the service was sent under one device's key, and what it said of it. */
export class DeviceLedger {
  readonly deviceId: string;
  readonly screenId: string;
  /** Set once somebody asks for its revocation, and once the service has confirmed that. */
  isBeingRevoked = false;
  isRevoked = false;
  /** All its keys, in the order in which they were given out, and whether each has passed at the service. */
  readonly keys = new Map<string, boolean>();
  readonly #acknowledged = new HashList();
  /** What may be there or not: of batches that an earlier run began to send. */
  readonly #optional: number[] = [];
  readonly #open = new Map<string, OpenBatch>();
  readonly #settledKeys: string[] = [];
  readonly #carriedKeys: readonly string[];
  #keyless = 0;
  #repeats = 0;

  constructor(deviceId: string, screenId: string, carriedKeys: readonly string[] = []) {
    this.deviceId = deviceId;
    this.screenId = screenId;
    this.#carriedKeys = carriedKeys;
  }

  /** Whether another key was given out after this one. */
  isReplaced(apiKey: string): boolean {
    return [...this.keys.keys()].at(-1) !== apiKey;
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Batches that went out again, each time counted. */
  get repeats(): number {
    return this.#repeats;
  }

  /** Notes that a batch goes out; the answer is to be called with how that ended. */
  sending(key: string | undefined, events: readonly object[]): (end: TryEnd) => void {
    const name = key ?? `keyless ${++this.#keyless}`;
    if (this.#settledKeys.includes(name)) {
      this.#repeats++;
      return () => {};
    }
    const known = this.#open.get(name);
    if (known) this.#repeats++;
    const batch = known ?? { hashes: events.map(contentHash), underWay: 0, unknown: 0 };
    this.#open.set(name, batch);
    batch.underWay++;
    return (end) => this.#ended(name, batch, end);
  }

  #ended(name: string, batch: OpenBatch, end: TryEnd): void {
    batch.underWay--;
    // A copy of the same batch was acknowledged meanwhile.
    if (this.#settledKeys.includes(name)) return;
    if (end === 'unknown') batch.unknown++;
    if (end === 'acknowledged') {
      if (this.#carriedKeys.includes(name)) this.#optional.push(...batch.hashes);
      else this.#acknowledged.addAll(batch.hashes);
      this.#settledKeys.push(name);
      if (this.#settledKeys.length > rememberedKeys) this.#settledKeys.shift();
    }
    const isOver = end === 'acknowledged' || (batch.underWay === 0 && batch.unknown === 0);
    if (isOver) this.#open.delete(name);
  }

  /** Compares with the hashes of all events that the service has of this device. */
  balance(stored: HashList): DeviceBalance {
    const accounts = new Map<number, { promised: number; possible: number; found: number }>();
    const note = (hashes: Iterable<number>, member: 'promised' | 'possible' | 'found') => {
      for (const hash of hashes) {
        const account = accounts.get(hash) ?? { promised: 0, possible: 0, found: 0 };
        account[member]++;
        accounts.set(hash, account);
      }
    };
    note(this.#acknowledged.values(), 'promised');
    note(this.#optional, 'possible');
    for (const { hashes } of this.#open.values()) note(hashes, 'possible');
    note(stored.values(), 'found');
    const balance = {
      acknowledged: this.#acknowledged.length,
      stored: stored.length,
      lost: 0,
      duplicated: 0,
      strange: 0,
    };
    for (const { promised, possible, found } of accounts.values()) {
      balance.lost += Math.max(0, promised - found);
      const excess = Math.max(0, found - promised - possible);
      balance[promised + possible > 0 ? 'duplicated' : 'strange'] += excess;
    }
    return balance;
  }
}
