import { randomUUID } from 'node:crypto';
import { between } from './tv-clock.ts';
import type {
  TvBatch,
  TvConfig,
  TvEvent,
  TvPlaylist,
  TvRegistration,
  TvState,
} from './tv-memory.ts';

export type Operation = 'register' | 'config' | 'playlist' | 'events' | 'changes' | 'rotate';

/** A failed request. Times are in milliseconds of the TV. */
export interface Failure {
  operation: Operation;
  /** 0: no complete answer. */
  status: number;
  code: string | undefined;
  retryAfterMs: number | undefined;
  /** Number of failures in a row, from 1. */
  failures: number;
  syncMs: number;
}

const minuteMs = 60_000;
const isTransient = (status: number) =>
  status === 0 || status === 401 || status === 429 || status >= 500;

/**
 * The decisions of a TV that follows docs/protocol.md. A style or a seeded defect replaces some of
 * them.
 */
export const correctHabits = {
  /** Whether the TV holds `GET …/changes` (§2.9). */
  holdsChanges: false,
  /** Default: the TV never rotates its key (§2.8). */
  rotateEveryMinutes: undefined as number | undefined,
  /** Heartbeat intervals between two reports. */
  heartbeatsPerReport: 1,

  // Registration (§3)
  registrationKey: (earlier: TvRegistration | undefined, code: string): string | undefined =>
    earlier?.code === code ? earlier.key : randomUUID(),
  registrationQuery: (_code: string): string => '',
  deviceInfo: (_failures: number): object => ({ manufacturer: 'Examined', model: 'Test TV' }),
  repeatsRefusedRegistration: false,

  // Every request (§2.1, §2.6)
  query: (_apiKey: string): string => '',
  jitter: (ms: number): number => ms * between(0.9, 1.1),
  retryMs({ status, retryAfterMs, failures, syncMs }: Failure): number {
    if (retryAfterMs !== undefined) return retryAfterMs * between(1.02, 1.2);
    if (!isTransient(status)) return correctHabits.jitter(syncMs);
    return Math.min(2000 * 2 ** (failures - 1), syncMs) * between(0.8, 1.2);
  },
  /**
   * Whether an answer ends the key. `status` is 0 without an answer, and `offlineMs` is how long
   * there has been none.
   */
  forgetsKey: (code: string | undefined, _status: number, _offlineMs: number): boolean =>
    ['device_key_invalid', 'device_key_revoked', 'device_key_orphaned'].includes(code ?? ''),
  /** Whether the TV registers with a new code after it lost its key. */
  pairsAgain: true,

  // Config and playlist (§2.3, §2.4)
  fetchesConfig: true,
  fetchesPlaylist: true,
  sendsEtags: true,
  syncMs: (config: TvConfig): number => config.syncIntervalMinutes * minuteMs,
  /** Wait after a config or playlist was fetched. */
  pollMs: (syncMs: number): number => syncMs,
  heartbeatMs: (config: TvConfig): number => config.heartbeatIntervalMinutes * minuteMs,
  nextConfig: (_current: TvConfig, next: TvConfig): TvConfig => next,
  configAfterFailure: (current: TvConfig, _status: number): TvConfig => current,
  nextPlaylist: (_current: TvPlaylist | undefined, next: TvPlaylist): TvPlaylist => next,
  playlistAfter404: (_current: TvPlaylist | undefined): TvPlaylist | undefined => undefined,
  /** Wait after a 404. */
  absentMs: (syncMs: number): number => syncMs,

  // Playing
  nextPlace: (place: number): number => place + 1,
  /**
   * Whether the screen is dark. `status` is that of the last playlist request since the start, 0 if
   * the last request of any kind got no answer. `isFresh`: there was no answer since the start.
   */
  isDark: (_status: number | undefined, _isFresh: boolean): boolean => false,

  // Events (§2.5)
  event: (event: TvEvent): TvEvent => event,
  batchKey: (): string | undefined => randomUUID(),
  /** The batch to send after a failure. */
  batchForRetry: (batch: TvBatch, _failure: Failure): TvBatch | undefined => batch,
  /**
   * The batches in place of one that was refused with 400. `wrong` has the indexes named. If it
   * names none, the whole batch is dropped, because a repeat would be refused, too.
   */
  repaired(batch: TvBatch, wrong: ReadonlySet<number>): TvBatch[] {
    if (wrong.size === 0) return [];
    const events = batch.events.filter((_, index) => !wrong.has(index));
    return events.length === 0 ? [] : [{ key: randomUUID(), events }];
  },
  /** The batches in place of one that was refused with 413. */
  parts({ events }: TvBatch): TvBatch[] {
    if (events.length === 1) return [];
    const half = Math.ceil(events.length / 2);
    return [events.slice(0, half), events.slice(half)].map((part) => ({
      key: randomUUID(),
      events: part,
    }));
  },
  reports: true,
  /** Whether events have a `seq`. */
  numbersEvents: false,
  numbersType: (_type: string): boolean => true,
  nextSeq: (seq: number): number => seq + 1,
  sentSeq: (seq: number): unknown => seq,
  /** The header `X-Device-Time` of one attempt. Default: none. */
  deviceTime: (_nowMs: number, _batch: TvBatch): string | undefined => undefined,
  afterAccepted: (_batch: TvBatch): TvBatch[] => [],
  /** Whether an event is kept. `status` is that of the last request of this kind. */
  keepsEvent: (_status: number | undefined): boolean => true,

  // Changes (§2.9)
  changesPauseMs: (isChanged: boolean, elapsedMs: number): number =>
    isChanged ? 0 : Math.max(0, 7000 - elapsedMs),
  fetchesChanges: true,
  waitSecondsAfterCut: (elapsedSeconds: number): number =>
    Math.max(1, Math.floor(0.8 * elapsedSeconds)),
  changesAfter404Ms: 24 * 60 * minuteMs,

  // Key rotation (§2.8)
  rotationKey: (earlier: string | undefined): string | undefined => earlier ?? randomUUID(),
  usesNewKey: true,

  // Power
  afterPowerCut: (state: TvState): TvState => state,
};

export type Habits = typeof correctHabits;
