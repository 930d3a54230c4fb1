import { shardNames } from '../checkpoint/line-table.ts';
import type { EventProgress, EventRecord, RecordedKey } from '../log/event-record.ts';
import { DeviceDocuments } from './device-documents.ts';

/** Number of keys remembered per device (docs/protocol.md §2.5). */
export const rememberedKeys = 128;
const shards = 64;
/** An entry is 8 bytes of the key's hash, and 8 of the hash of the bytes sent. */
const keyBytes = 8;
const entryBytes = 16;
const initialCapacity = 4;

type KeyRecord = Pick<EventRecord, 'seq' | 'deviceId' | 'recordedKey'>;

/** The last keys of one device, oldest first. */
class KeyList {
  #entries: Buffer;
  #usedBytes: number;
  /** Whether a snapshot has this list. It must not change then. */
  isInSnapshot = false;

  /** @param encoded the entries in base64 */
  constructor(encoded: string) {
    // `Buffer.alloc` does not use the pool of small buffers. A buffer from the pool would keep
    // others in memory.
    this.#entries = Buffer.alloc(Buffer.byteLength(encoded, 'base64'));
    this.#usedBytes = this.#entries.write(encoded, 'base64');
  }

  /** Returns the hash of the bytes sent under a key, in hex. */
  find(key: string): string | undefined {
    const used = this.#entries.subarray(0, this.#usedBytes);
    let at = used.indexOf(key, 0, 'hex');
    while (at >= 0 && at % entryBytes !== 0) at = used.indexOf(key, at + 1, 'hex');
    return at < 0 ? undefined : used.toString('hex', at + keyBytes, at + entryBytes);
  }

  /** Adds a key. In a full list it replaces the oldest key. */
  add({ key, sent }: RecordedKey): void {
    if (this.#usedBytes === rememberedKeys * entryBytes) {
      this.#entries.copyWithin(0, entryBytes);
      this.#usedBytes -= entryBytes;
    } else if (this.#usedBytes === this.#entries.length) this.#grow();
    this.#usedBytes += this.#entries.write(key + sent, this.#usedBytes, 'hex');
  }

  #grow(): void {
    const capacity = Math.max(initialCapacity, (2 * this.#usedBytes) / entryBytes);
    const larger = Buffer.alloc(Math.min(capacity, rememberedKeys) * entryBytes);
    this.#entries.copy(larger);
    this.#entries = larger;
  }

  /** Returns the entries in base64. */
  toJSON(): string {
    return this.#entries.toString('base64', 0, this.#usedBytes);
  }
}

/**
 * Idempotency keys of all devices, at most 2 KB for each, in the documents `rings-00` to
 * `rings-3f`.
 */
export class IdempotencyKeys extends DeviceDocuments<KeyList> {
  readonly kind = 'rings';

  constructor(progress: EventProgress) {
    super(progress, idempotencyDocument, (encoded) => new KeyList(encoded as string));
  }

  /** Returns the hash of the bytes sent under a device's key, in hex. */
  find(deviceId: string, key: string): string | undefined {
    return this.#keysOf(deviceId)?.find(key);
  }

  /**
   * Applies a batch that became durable or is replayed. Skips batches that the document contains
   * already.
   */
  apply({ seq, deviceId, recordedKey }: KeyRecord): void {
    if (!recordedKey || this.contains(deviceId, seq)) return;
    const known = this.#keysOf(deviceId);
    const keys = known && !known.isInSnapshot ? known : new KeyList(known?.toJSON() ?? '');
    keys.add(recordedKey);
    this.set(deviceId, keys);
  }

  override snapshot(): () => AsyncGenerator<string> {
    this.values.eachValue((keys) => {
      keys.isInSnapshot = true;
    });
    return super.snapshot();
  }

  /** Returns the keys of a device, and caches them in parsed form. */
  #keysOf(deviceId: string): KeyList | undefined {
    const keys = this.values.get(deviceId);
    if (keys) this.values.set(deviceId, keys);
    return keys;
  }
}

/** Returns the entries of a document's line in hex, oldest first. */
export function keyEntries(encoded: string): string[] {
  return Buffer.from(encoded, 'base64').toString('hex').match(/.{32}/g) ?? [];
}

/** Returns the name of the document that has a device's keys. */
export const idempotencyDocument = shardNames('rings', shards);
