import {
  type DeviceSequence,
  emptySequence,
  type SequenceState,
  summaryOf,
  withNumbers,
} from '../../../domain/events/sequence.ts';
import { shardNames } from '../checkpoint/line-table.ts';
import type { EventProgress, EventRecord } from '../log/event-record.ts';
import { DeviceDocuments } from './device-documents.ts';

const shards = 64;

type NumberedRecord = Pick<EventRecord, 'seq' | 'deviceId'> & {
  sums: Pick<EventRecord['sums'], 'numbers'>;
};

/**
 * Sequence numbers of all devices that number their events, in the documents `sequences-00` to
 * `sequences-3f`.
 */
export class Sequences extends DeviceDocuments<SequenceState> {
  readonly kind = 'sequences';

  constructor(progress: EventProgress) {
    super(progress, sequenceDocument, (state) => state as SequenceState);
  }

  /** Returns the statistics of a device's sequence numbers. `undefined`: it has sent none. */
  summary(deviceId: string): DeviceSequence | undefined {
    const state = this.values.get(deviceId);
    return state && summaryOf(state);
  }

  /**
   * Applies a batch that became durable or is replayed. Skips batches that the document contains
   * already.
   */
  apply({ seq, deviceId, sums: { numbers } }: NumberedRecord): void {
    if (numbers.length === 0 || this.contains(deviceId, seq)) return;
    this.set(deviceId, withNumbers(this.values.get(deviceId) ?? emptySequence, numbers));
  }
}

/** Returns the name of the document that has the sequence numbers of a device. */
export const sequenceDocument = shardNames('sequences', shards);
