import {
  type DeviceSequence,
  emptySequence,
  type SequenceState,
  summaryOf,
  withNumbers,
} from '../../../domain/events/sequence.ts';
import type {
  DocumentOwner,
  RenderedDocument,
  WrittenDocument,
} from '../checkpoint/document-owner.ts';
import { LineTable, shardNames } from '../checkpoint/line-table.ts';
import type { EventProgress, EventRecord } from './event-record.ts';

const shards = 64;

type NumberedRecord = Pick<EventRecord, 'seq' | 'deviceId'> & {
  sums: Pick<EventRecord['sums'], 'numbers'>;
};

/**
 * Sequence numbers of all devices. The documents `sequences-00` to `sequences-3f` have one line per
 * device that numbers its events. At start the event log replays the batches that a document lacks.
 */
export class Sequences implements DocumentOwner {
  readonly kind = 'sequences';
  readonly log = 'events';
  readonly #states = new LineTable<SequenceState>(sequenceDocument, {
    opening: '["',
    parse: (line) => (JSON.parse(line) as [string, SequenceState])[1],
    render: (deviceId, state) => JSON.stringify([deviceId, state]),
  });
  /** Number of the last batch that each loaded document contains. */
  readonly #loadedSeqs = new Map<string, number>();
  readonly #dirty = new Set<string>();
  readonly #progress: EventProgress;

  constructor(progress: EventProgress) {
    this.#progress = progress;
  }

  /** Returns the statistics of a device's sequence numbers. `undefined`: it has sent none. */
  summary(deviceId: string): DeviceSequence | undefined {
    const state = this.#states.get(deviceId);
    return state && summaryOf(state);
  }

  /**
   * Applies a batch that became durable or is replayed. Skips batches that the document contains
   * already.
   */
  apply({ seq, deviceId, sums: { numbers } }: NumberedRecord): void {
    const document = sequenceDocument(deviceId);
    if (numbers.length === 0 || seq <= (this.#loadedSeqs.get(document) ?? 0)) return;
    this.set(deviceId, withNumbers(this.#states.get(deviceId) ?? emptySequence, numbers));
  }

  set(deviceId: string, state: SequenceState): void {
    this.#states.set(deviceId, state);
    this.#dirty.add(sequenceDocument(deviceId));
  }

  /** Returns the states of all devices as they are now, to be read later, sorted by device. */
  snapshot(): () => AsyncGenerator<string> {
    return this.#states.snapshot();
  }

  forget(deviceId: string): void {
    if (this.#states.delete(deviceId)) this.#dirty.add(sequenceDocument(deviceId));
  }

  dirty(): string[] {
    return this.#progress.due() ? [...this.#dirty] : [];
  }

  async render(name: string): Promise<RenderedDocument | undefined> {
    this.#dirty.delete(name);
    const lines = this.#states.lines(name);
    return lines.length === 0 ? undefined : { lines, seq: this.#progress.seq() };
  }

  failed(name: string): void {
    this.#dirty.add(name);
  }

  async load(name: string, document: WrittenDocument): Promise<void> {
    this.#loadedSeqs.set(name, document.seq);
    this.#states.load(name, await document.bytes());
  }
}

/** Returns the name of the document that has the sequence numbers of a device. */
export const sequenceDocument = shardNames('sequences', shards);
