import { hash } from 'node:crypto';

const hashBytes = 6;

/** Sorts the members of all objects, because stores may reorder them. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, inner]) => [name, sortMembers(inner)]);
}

/**
 * Returns a 48-bit hash of an event's content. Collisions among the thousands of events of
 * one TV are negligible.
 */
export function contentHash(event: object): number {
  return hash('sha256', JSON.stringify(sortMembers(event)), 'buffer').readUIntBE(0, hashBytes);
}

/**
 * The outcome of one attempt to send a batch: acknowledged with 202, rejected without storing
 * anything, or unknown.
 */
export type AttemptOutcome = 'acknowledged' | 'refused' | 'unknown';

/** Event counts from the comparison of one device. */
export interface DeviceBalance {
  acknowledged: number;
  stored: number;
  /** Number of events that were acknowledged but are not stored. */
  lost: number;
  /**
   * Number of events stored too often. An event may be stored once for each idempotency key under
   * which it was sent.
   */
  duplicated: number;
  /** Number of stored events that were never sent or always rejected. */
  strange: number;
}

/** A batch not acknowledged yet. It may have been stored. */
interface OpenBatch {
  hashes: readonly number[];
  inFlight: number;
  /** Number of attempts with an unknown outcome. */
  unknown: number;
}

/**
 * Number of acknowledged batches whose idempotency keys are remembered. A few are enough: a TV
 * repeats a batch only before it sends the next one.
 */
const rememberedKeys = 4;

/** Records the events sent under the keys of one device, and the responses of the service. */
export class DeviceLedger {
  readonly deviceId: string;
  readonly screenId: string;
  /** Whether a revocation of the device was requested. */
  isBeingRevoked = false;
  /** Whether the service has confirmed the revocation. */
  isRevoked = false;
  /** All issued keys in order of issue, and whether the service has accepted each. */
  readonly keys = new Map<string, boolean>();
  readonly #acknowledged: number[] = [];
  /**
   * Hashes of acknowledged events in batches that an earlier run began to send. They may have been
   * stored before this run, so they need not be in the compared list.
   */
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

  /** Whether a later key was issued. */
  isReplaced(apiKey: string): boolean {
    return [...this.keys.keys()].at(-1) !== apiKey;
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Number of repeated attempts to send a batch. */
  get repeats(): number {
    return this.#repeats;
  }

  /** Records that a batch is sent. Call the returned function with the outcome. */
  sending(key: string | undefined, events: readonly object[]): (end: AttemptOutcome) => void {
    const name = key ?? `keyless ${++this.#keyless}`;
    if (this.#settledKeys.includes(name)) {
      this.#repeats++;
      return () => {};
    }
    const known = this.#open.get(name);
    if (known) this.#repeats++;
    const batch = known ?? { hashes: events.map(contentHash), inFlight: 0, unknown: 0 };
    this.#open.set(name, batch);
    batch.inFlight++;
    return (end) => this.#ended(name, batch, end);
  }

  #ended(name: string, batch: OpenBatch, end: AttemptOutcome): void {
    batch.inFlight--;
    // Another attempt of the same batch was acknowledged meanwhile.
    if (this.#settledKeys.includes(name)) return;
    if (end === 'unknown') batch.unknown++;
    if (end === 'acknowledged') {
      if (this.#carriedKeys.includes(name))
        for (const one of batch.hashes) this.#optional.push(one);
      else for (const one of batch.hashes) this.#acknowledged.push(one);
      this.#settledKeys.push(name);
      if (this.#settledKeys.length > rememberedKeys) this.#settledKeys.shift();
    }
    const isOver = end === 'acknowledged' || (batch.inFlight === 0 && batch.unknown === 0);
    if (isOver) this.#open.delete(name);
  }

  /** Compares the sent events with the hashes of all stored events of this device. */
  balance(stored: readonly number[]): DeviceBalance {
    const countsByHash = new Map<
      number,
      { acknowledged: number; optional: number; stored: number }
    >();
    const note = (hashes: Iterable<number>, member: 'acknowledged' | 'optional' | 'stored') => {
      for (const hash of hashes) {
        const counts = countsByHash.get(hash) ?? { acknowledged: 0, optional: 0, stored: 0 };
        counts[member]++;
        countsByHash.set(hash, counts);
      }
    };
    note(this.#acknowledged, 'acknowledged');
    note(this.#optional, 'optional');
    for (const { hashes } of this.#open.values()) note(hashes, 'optional');
    note(stored, 'stored');
    const balance = {
      acknowledged: this.#acknowledged.length,
      stored: stored.length,
      lost: 0,
      duplicated: 0,
      strange: 0,
    };
    for (const { acknowledged, optional, stored } of countsByHash.values()) {
      balance.lost += Math.max(0, acknowledged - stored);
      const excess = Math.max(0, stored - acknowledged - optional);
      balance[acknowledged + optional > 0 ? 'duplicated' : 'strange'] += excess;
    }
    return balance;
  }
}
