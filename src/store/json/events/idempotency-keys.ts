import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { ByteSlice } from '../rows/byte-slice.ts';
import { LazyLines } from '../rows/lazy-lines.ts';
import { shardNames } from '../rows/shard.ts';
import type { EventProgress, EventRecord, RecordedKey } from './event-record.ts';

/** The last keys of each device that are remembered (docs/protocol.md §2.5). */
export const rememberedKeys = 128;
const shards = 64;
const firstKeys = 4;
const lineOpening = '["';
/** An entry: 8 bytes of the key's hash, 8 of the hash of what was sent. */
const words = 4;

/** One device's keys: grows up to the number remembered, then each new one takes the place of the oldest. */
class Ring {
  #entries: Uint32Array;
  #count: number;
  #oldest = 0;

  /** `entries`, oldest first, is taken over. */
  constructor(entries: Uint32Array = new Uint32Array(firstKeys * words)) {
    this.#entries = entries;
    this.#count = 0;
  }

  /** `line` is the device's in its document. */
  static from(line: ByteSlice): Ring {
    const [, text] = JSON.parse(line.toString()) as [string, string];
    const bytes = Buffer.from(text, 'base64');
    const entries = new Uint32Array(bytes.length / 4);
    for (let word = 0; word < entries.length; word++) entries[word] = bytes.readUInt32BE(word * 4);
    const ring = new Ring(entries);
    ring.#count = entries.length / words;
    return ring;
  }

  /** What was sent under a key, in hex. */
  find(key: string): string | undefined {
    const [high, low] = wordsOf(key);
    const entries = this.#entries;
    for (let at = 0; at < this.#count * words; at += words) {
      if (entries[at] === high && entries[at + 1] === low)
        return hexOf(entries[at + 2]) + hexOf(entries[at + 3]);
    }
    return undefined;
  }

  add({ key, sent }: RecordedKey): void {
    if (this.#count === this.#entries.length / words && this.#count < rememberedKeys) this.#grow();
    const full = this.#count === rememberedKeys;
    this.#entries.set(
      [...wordsOf(key), ...wordsOf(sent)],
      (full ? this.#oldest : this.#count) * words,
    );
    if (full) this.#oldest = (this.#oldest + 1) % rememberedKeys;
    else this.#count++;
  }

  #grow(): void {
    const larger = new Uint32Array(
      Math.min(Math.max(2 * this.#entries.length, firstKeys * words), rememberedKeys * words),
    );
    larger.set(this.#entries);
    this.#entries = larger;
  }

  /** A copy of its entries, oldest first. */
  copy(): Uint32Array {
    const [oldest, end] = [this.#oldest * words, this.#count * words];
    const entries = new Uint32Array(end);
    entries.set(this.#entries.subarray(oldest, end));
    entries.set(this.#entries.subarray(0, oldest), end - oldest);
    return entries;
  }
}

function wordsOf(hex: string): [number, number] {
  return [Number.parseInt(hex.slice(0, 8), 16), Number.parseInt(hex.slice(8, 16), 16)];
}

function hexOf(word = 0): string {
  return word.toString(16).padStart(8, '0');
}

function base64Of(entries: Uint32Array): string {
  const bytes = Buffer.allocUnsafe(entries.length * 4);
  entries.forEach((word, at) => {
    bytes.writeUInt32BE(word, at * 4);
  });
  return bytes.toString('base64');
}

/** One document's part of the devices. */
interface Shard {
  rings: Map<string, Ring>;
  /** What was loaded stays text until the device sends something. */
  loaded: LazyLines | undefined;
  /** The last batch that the document contains. */
  seq: number;
  dirty: boolean;
}

/**
 * The idempotency keys of all devices, in 2 KB each at most. Documents `rings-00` to `rings-3f` hold a line for each device; the event log's tail brings
 * them up to date.
 */
export class IdempotencyKeys implements DocumentOwner {
  readonly kind = 'rings';
  readonly log = 'events';
  readonly #shards = new Map<string, Shard>();
  readonly #progress: EventProgress;

  constructor(progress: EventProgress) {
    this.#progress = progress;
  }

  /** What was sent under a device's key: 8 bytes of its hash, in hex. */
  find(deviceId: string, key: string): string | undefined {
    const shard = this.#shards.get(ringsDocument(deviceId));
    return shard && ringOf(shard, deviceId)?.find(key);
  }

  /** Takes in a batch that has become durable, or is replayed. Those that the document has come too. */
  apply({ seq, deviceId, mark }: EventRecord): void {
    if (!mark) return;
    const shard = this.#shardOf(ringsDocument(deviceId));
    if (seq <= shard.seq) return;
    const ring = ringOf(shard, deviceId) ?? new Ring();
    shard.rings.set(deviceId, ring);
    ring.add(mark);
    shard.dirty = true;
  }

  forget(deviceId: string): void {
    const shard = this.#shards.get(ringsDocument(deviceId));
    if (!shard) return;
    const wasLoaded = shard.loaded?.delete(deviceId) === true;
    if (shard.rings.delete(deviceId) || wasLoaded) shard.dirty = true;
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
    const copies = [...shard.rings].map(([id, ring]) => [id, ring.copy()] as const);
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
      rings: new Map(),
      loaded: undefined,
      seq: 0,
      dirty: false,
    };
    this.#shards.set(name, shard);
    return shard;
  }
}

/** The document that a device's keys lie in. */
export const ringsDocument = shardNames('rings', shards);

/** Encodes them as they are asked for: each takes 5 µs. */
function* linesOf(
  rings: readonly (ByteSlice | readonly [string, Uint32Array])[],
): Generator<string> {
  for (const ring of rings)
    yield ring instanceof ByteSlice
      ? ring.toString()
      : JSON.stringify([ring[0], base64Of(ring[1])]);
}

function ringOf({ rings, loaded }: Shard, deviceId: string): Ring | undefined {
  const text = rings.has(deviceId) ? undefined : loaded?.find(deviceId);
  if (!text) return rings.get(deviceId);
  const parsed = Ring.from(text);
  rings.set(deviceId, parsed);
  loaded?.delete(deviceId);
  return parsed;
}
