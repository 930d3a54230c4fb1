import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { ByteSlice } from '../rows/byte-slice.ts';
import { LazyLines } from '../rows/lazy-lines.ts';
import { shardNames } from '../rows/shard.ts';
import type { EventProgress, EventRecord, RecordedKey } from './event-record.ts';

/** Number of keys remembered per device (docs/protocol.md §2.5). */
export const rememberedKeys = 128;
const shards = 64;
const initialCapacity = 4;
const lineOpening = '["';
/** An entry has 8 bytes of the key's hash, and 8 of the hash of the bytes sent. */
const hashBytes = 8;
const entryBytes = 2 * hashBytes;

/**
 * Ring buffer of one device's keys. It grows to its capacity; then each new key replaces the
 * oldest.
 */
class KeyRing {
  #entries: Buffer;
  #count: number;
  #oldest = 0;

  /** Takes ownership of `entries`, oldest first. */
  constructor(entries = Buffer.alloc(0)) {
    this.#entries = entries;
    this.#count = entries.length / entryBytes;
  }

  /** Parses the device's line in its document. */
  static from(line: ByteSlice): KeyRing {
    const [, text] = JSON.parse(line.toString()) as [string, string];
    return new KeyRing(Buffer.from(text, 'base64'));
  }

  /** Returns the hash of the bytes sent under a key, in hex. */
  find(key: string): string | undefined {
    const entries = this.#entries.subarray(0, this.#count * entryBytes);
    const wanted = Buffer.from(key, 'hex');
    let at = entries.indexOf(wanted);
    while (at >= 0 && at % entryBytes !== 0) at = entries.indexOf(wanted, at + 1);
    return at < 0 ? undefined : entries.toString('hex', at + hashBytes, at + entryBytes);
  }

  add({ key, sent }: RecordedKey): void {
    const isFull = this.#count === rememberedKeys;
    if (!isFull && this.#count * entryBytes === this.#entries.length) this.#grow();
    const at = (isFull ? this.#oldest : this.#count) * entryBytes;
    this.#entries.write(key + sent, at, 'hex');
    if (isFull) this.#oldest = (this.#oldest + 1) % rememberedKeys;
    else this.#count++;
  }

  #grow(): void {
    const capacity = Math.min(Math.max(2 * this.#count, initialCapacity), rememberedKeys);
    const larger = Buffer.alloc(capacity * entryBytes);
    larger.set(this.#entries);
    this.#entries = larger;
  }

  /** Returns a copy of the entries, oldest first. */
  copy(): Buffer {
    const oldest = this.#oldest * entryBytes;
    const end = this.#count * entryBytes;
    return Buffer.concat([this.#entries.subarray(oldest, end), this.#entries.subarray(0, oldest)]);
  }
}

/** The devices of one document. */
interface Shard {
  devices: Map<string, KeyRing>;
  /** Loaded lines stay text until the device sends a batch. */
  loaded: LazyLines | undefined;
  /** Last batch that the document contains. */
  seq: number;
  dirty: boolean;
}

/**
 * Idempotency keys of all devices, at most 2 KB for each. The documents `rings-00` to `rings-3f`
 * have one line per device. At start the event log replays what they lack.
 */
export class IdempotencyKeys implements DocumentOwner {
  readonly kind = 'rings';
  readonly log = 'events';
  readonly #shards = new Map<string, Shard>();
  readonly #progress: EventProgress;

  constructor(progress: EventProgress) {
    this.#progress = progress;
  }

  /** Returns the hash of the bytes sent under a device's key, in hex. */
  find(deviceId: string, key: string): string | undefined {
    const shard = this.#shards.get(idempotencyDocument(deviceId));
    return shard && keysOf(shard, deviceId)?.find(key);
  }

  /**
   * Applies a batch that became durable or is replayed. Skips batches that the document contains
   * already.
   */
  apply({ seq, deviceId, recordedKey }: EventRecord): void {
    if (!recordedKey) return;
    const shard = this.#shardOf(idempotencyDocument(deviceId));
    if (seq <= shard.seq) return;
    const keys = keysOf(shard, deviceId) ?? new KeyRing();
    shard.devices.set(deviceId, keys);
    keys.add(recordedKey);
    shard.dirty = true;
  }

  forget(deviceId: string): void {
    const shard = this.#shards.get(idempotencyDocument(deviceId));
    if (!shard) return;
    const wasLoaded = shard.loaded?.delete(deviceId) === true;
    if (shard.devices.delete(deviceId) || wasLoaded) shard.dirty = true;
  }

  keepsBytes(): boolean {
    return true;
  }

  dirty(): string[] {
    if (!this.#progress.due()) return [];
    return [...this.#shards].filter(([, shard]) => shard.dirty).map(([name]) => name);
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    const shard = this.#shardOf(name);
    shard.dirty = false;
    const copies = [...shard.devices].map(([id, keys]) => [id, keys.copy()] as const);
    const all = [...(shard.loaded?.texts() ?? []), ...copies];
    return all.length === 0 ? undefined : { lines: linesOf(all), seq: this.#progress.seq() };
  }

  written(): void {}

  failed(name: string): void {
    this.#shardOf(name).dirty = true;
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    const shard = this.#shardOf(name);
    shard.seq = document.seq;
    shard.loaded = new LazyLines(await document.bytes(), lineOpening);
  }

  #shardOf(name: string): Shard {
    const shard = this.#shards.get(name) ?? {
      devices: new Map(),
      loaded: undefined,
      seq: 0,
      dirty: false,
    };
    this.#shards.set(name, shard);
    return shard;
  }
}

/** Returns the name of the document that has a device's keys. */
export const idempotencyDocument = shardNames('rings', shards);

/** Encodes lines lazily: each takes 5 µs. */
function* linesOf(devices: readonly (ByteSlice | readonly [string, Buffer])[]): Generator<string> {
  for (const keys of devices)
    yield keys instanceof ByteSlice
      ? keys.toString()
      : JSON.stringify([keys[0], keys[1].toString('base64')]);
}

function keysOf({ devices, loaded }: Shard, deviceId: string): KeyRing | undefined {
  const text = devices.has(deviceId) ? undefined : loaded?.find(deviceId);
  if (!text) return devices.get(deviceId);
  const parsed = KeyRing.from(text);
  devices.set(deviceId, parsed);
  loaded?.delete(deviceId);
  return parsed;
}
