import type { SequenceState } from '../../domain/events/sequence.ts';
import type { LastActivity, TokenActivity } from '../../domain/records/activity.ts';
import type { ReportClock, ReportGroup } from '../../domain/records/report.ts';
import type { ChainState, SealedEntry } from '../audit/audit-chain.ts';
import { type Rows, tableNames } from '../sections.ts';

/** A stored batch of events. Its id is derived from `seq` and `receivedAt`. */
export interface CopiedBatch {
  seq: number;
  /** In epoch milliseconds. */
  receivedAt: number;
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  /** Absent: the device is not simulated. */
  simulated?: boolean | undefined;
  /** Absent: the TV did not send its time. */
  offsetMs?: number | undefined;
  /** The events as a JSON array, as sent. */
  body: string;
}

/**
 * Idempotency keys of a device, oldest first: `shortHash` of each key and of the bytes sent under
 * it.
 */
export interface DeviceKeys {
  deviceId: string;
  keys: [key: string, sent: string][];
}

/**
 * Maximum sum of seconds. Only a faulty TV can report more. Adding two such sums cannot overflow a
 * double.
 */
export const maxSeconds = 8e307;

/** Impressions of one day and scope (`scopesOf` in impression-counts.ts). */
export interface CopiedImpressions {
  scope: string;
  clock: ReportClock;
  group: ReportGroup;
  day: string;
  key: string;
  impressions: number;
  seconds: number;
}

/** Sequence numbers of a device. */
export interface CopiedSequence {
  deviceId: string;
  state: SequenceState;
}

export interface CopiedActivity {
  kind: 'device' | 'token';
  id: string;
  marks: LastActivity & TokenActivity;
}

/**
 * Record types by section, in a form independent of any store. Guess counters are not copied, since
 * they expire soon.
 */
export interface Records extends Rows {
  batches: CopiedBatch;
  idempotency: DeviceKeys;
  impressions: CopiedImpressions;
  sequences: CopiedSequence;
  audit: SealedEntry;
  marks: CopiedActivity;
}

export type Section = keyof Records;

/**
 * Sections in copy order: logs with their keys, sums and numbers, then rows, then last activity. A
 * folder target writes the sections of the logs as files. It then opens a store on these files, and
 * writes the other sections through that store.
 */
export const sections: readonly Section[] = [
  'batches',
  'idempotency',
  'impressions',
  'sequences',
  'audit',
  ...tableNames,
  'marks',
];

/**
 * Number and time of the last batch ever stored, even if retention has deleted it. New batches
 * continue this numbering.
 */
export interface LogEnd {
  seq: number;
  receivedAt: number;
}

/**
 * A store to copy from. Nothing writes to it during the copy. Records of a section keep their order
 * as long as `state` is unchanged. Batches and audit entries come in log order. Impressions are
 * sorted by `clock`, then by `day`.
 */
export interface StoreSource {
  readonly secret: Uint8Array;
  readonly logEnd: LogEnd;
  /** Chain data of the audit trail, which is stored beside the entries. */
  readonly chain: ChainState;
  /**
   * Identifies the store's content. Nearly every change changes it. The comparison after the copy
   * detects the others.
   */
  readonly state: string;
  count(section: Section): Promise<number>;
  /** Yields pages of the records after the first `skip`. */
  read<S extends Section>(section: S, skip: number): AsyncIterable<readonly Records[S][]>;
  close(): Promise<void>;
}

/** State of an unfinished copy, which the target stores until the copy is complete. */
export interface CopyProgress {
  /** Identifies the source: a hash of its secret, and its state. */
  origin: { store: string; state: string };
  logEnd: LogEnd;
  /**
   * Chain of the source, without its writer: the copy gets a new writer. Absent if an earlier
   * version of the program began the copy.
   */
  chain?: ChainState;
  /** Number of durably copied records, by section. */
  done: { [S in Section]?: number };
  complete: Section[];
}

/**
 * A store to copy into. It is empty or has part of the same copy. No service can start on it before
 * `release`.
 *
 * Call `begin` first. Call `accept` and `complete` for each section. Then call `finish`, `copied`
 * and `release`.
 */
export interface StoreTarget {
  /**
   * Returns whether an earlier copy resumes. Throws `store_not_empty` when the target has data of
   * another store, or of an earlier state of this source.
   */
  begin(source: StoreSource): Promise<boolean>;
  /** Returns the durable progress of the copy. */
  progress(): CopyProgress;
  accept<S extends Section>(section: S, records: readonly Records[S][]): Promise<void>;
  complete(section: Section): Promise<void>;
  /** Call after the last section. Makes everything durable. */
  finish(): Promise<void>;
  /**
   * Opens the copied data the way a service will read it. The caller closes it before it closes the
   * target.
   */
  copied(): Promise<StoreSource>;
  /** Allows services to start on the target. */
  release(): Promise<void>;
  close(): Promise<void>;
}
