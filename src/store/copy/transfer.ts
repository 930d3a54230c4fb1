import type { ReportClock, ReportGroup } from '../../domain/records/report.ts';
import type { LastActivity, Rows, TokenActivity } from '../../domain/records/rows.ts';
import type { ChainState, SealedEntry } from '../audit/audit-chain.ts';
import { tableNames } from '../tables.ts';

/** A batch of events as it was stored; its id is made of `seq` and `receivedAt`. */
export interface CopiedBatch {
  seq: number;
  /** Milliseconds. */
  receivedAt: number;
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  /** The events, as the JSON array that was sent. */
  body: string;
}

/** The idempotency keys of a device, oldest first: `shortHash` of each key, and of what was sent under it. */
export interface DeviceKeys {
  deviceId: string;
  keys: [key: string, sent: string][];
}

/** Seconds beyond it, of TVs that make them up, are taken for so many: doubles must not overflow when two are added. */
export const mostSeconds = 8e307;

/** Impressions of a day; `scope` is a tenant, or a venue. */
export interface CopiedImpressions {
  scope: string;
  clock: ReportClock;
  group: ReportGroup;
  day: string;
  key: string;
  impressions: number;
  seconds: number;
}

export interface CopiedMarks {
  kind: 'device' | 'token';
  id: string;
  marks: LastActivity & TokenActivity;
}

/** What a store is made of, in a form that is no store's own. Attempts are left out: they are soon forgotten. */
export interface Records extends Rows {
  batches: CopiedBatch;
  idempotency: DeviceKeys;
  impressions: CopiedImpressions;
  audit: SealedEntry;
  marks: CopiedMarks;
}

export type Section = keyof Records;

/** In this order they are copied: what a store reads at its start, then rows, then what is noted of them. */
export const sections: readonly Section[] = [
  'batches',
  'idempotency',
  'impressions',
  'audit',
  ...tableNames,
  'marks',
];

/** The number and the time of the last batch that was ever stored, also when retention has dropped it: the next one comes after it. */
export interface LogEnd {
  seq: number;
  receivedAt: number;
}

/**
 * A store that is read from, while nobody changes it. Records of a section come in an order that stays the same as long as `state` does: batches and audit
 * entries in theirs, impressions by clock and day.
 */
export interface StoreSource {
  readonly secret: Uint8Array;
  readonly logEnd: LogEnd;
  /** What is kept of the audit trail's chain beside the entries. */
  readonly chain: ChainState;
  /** Another one once the store was changed. */
  readonly state: string;
  count(section: Section): Promise<number>;
  /** The records after the first `skip`, some at a time. */
  read<S extends Section>(section: S, skip: number): AsyncIterable<readonly Records[S][]>;
  close(): Promise<void>;
}

/**
 * A store that is copied into. It was empty, or has a part of the same copy; no service starts on it before `release`. `begin`, then for each section
 * `accept` and `complete`, then `finish`, `copied`, `release`.
 */
export interface StoreTarget {
  /** Throws `store_not_empty` when what is there is of another store, or of this one before it was changed. Answers whether a copy goes on. */
  begin(source: StoreSource): Promise<boolean>;
  /** How many records of a section it has for good. */
  done(section: Section): number;
  isComplete(section: Section): boolean;
  accept<S extends Section>(section: S, records: readonly Records[S][]): Promise<void>;
  complete(section: Section): Promise<void>;
  /** Everything has come: all of it is on the disk then. */
  finish(): Promise<void>;
  /** What has come, read as a service will find it. The caller closes it, before the target. */
  copied(): Promise<StoreSource>;
  /** Lets a service start on it. */
  release(): Promise<void>;
  close(): Promise<void>;
}
