import { z } from 'zod';
import { minuteMs } from '../clock.ts';
import type { DeviceSequence } from '../events/sequence.ts';
import { storedReport } from './player-report.ts';

const text = z.string();
/** Unix epoch milliseconds, by the clock of the service. */
const time = z.number();

/** An item that a TV could not play, and has not played since. */
const playError = z.strictObject({
  /** `null`: the TV did not name the item. */
  creativeId: text.nullable(),
  /** The `reason` of the event, such as `http_404`. */
  reason: text,
  since: time,
  at: time,
});
export type PlayError = z.infer<typeof playError>;

/** The last layer and version of which the TV reported that it is on the screen. */
const shownLayer = z.strictObject({
  version: z.number(),
  /** `null`: the playlist of the screen. */
  entryId: text.nullable(),
  creativeId: text.nullable(),
  /** Whether it is beneath a layer of which all items failed. */
  isInstead: z.boolean(),
  at: time,
});
export type ShownLayer = z.infer<typeof shownLayer>;

/** Latest activity of a device. It is kept in memory, and written at most once a minute. */
export const lastActivity = z.strictObject({
  lastSeenAt: time.optional(),
  /** Start of the present series of calls, without a pause of more than `longestPauseMs`. */
  seenSince: time.optional(),
  lastAddress: text.nullable().optional(),
  lastPlaylistAt: time.optional(),
  lastPlaylistVersion: z.number().nullable().optional(),
  lastPlaylistStatus: z.number().optional(),
  lastConfigAt: time.optional(),
  lastEventAt: time.optional(),
  /** Time of the latest request with a revoked or replaced key. */
  lastRefusedAt: time.optional(),
  /** End of the last play that it reported, and the creative. */
  lastPlayAt: time.optional(),
  lastPlayId: text.nullable().optional(),
  /** Whether `lastPlayAt` is only the time of receipt, because the clock of the TV is unusable. */
  isPlayTimeGuessed: z.boolean().optional(),
  /** Start of the present series of plays, without a longer break. */
  playsSince: time.optional(),
  /** Receipt of the last batch with a play. */
  lastPlayReportAt: time.optional(),
  /** The longest time between two such batches within a day, and its end. */
  longestPlayGapMs: z.number().optional(),
  playGapAt: time.optional(),
  /** The newest errors, one for each item. */
  playErrors: z.array(playError).readonly().optional(),
  /** Time of `app_stopped`, if no event followed it. */
  stoppedAt: time.nullable().optional(),
  /** Time of the service minus time of the TV. `null`: the TV does not tell its time. */
  clockOffsetMs: z.number().nullable().optional(),
  /** Since when its browser refuses the sound that its config asks for. */
  mutedSince: time.nullable().optional(),
  /** The last time in which its page was hidden. `until` is `null` while it is. */
  hidden: z.strictObject({ since: time, until: time.nullable() }).optional(),
  report: storedReport.optional(),
  /** `null`: it has not reported one since its start, or never does. */
  shown: shownLayer.nullable().optional(),
});
export type LastActivity = z.infer<typeof lastActivity>;

/** A TV with the default config calls more often. */
const longestPauseMs = 10 * minuteMs;

export const isPause = (lastSeenAt: number, calledAt: number) =>
  calledAt - lastSeenAt > longestPauseMs;

/** Returns the start of the present series of calls after a further call. */
export function seenSinceAfter({ lastSeenAt, seenSince }: LastActivity, calledAt: number): number {
  return lastSeenAt === undefined || isPause(lastSeenAt, calledAt)
    ? calledAt
    : (seenSince ?? lastSeenAt);
}

/** Latest activity of a device, and the statistics of its sequence numbers, if it has sent any. */
export interface DeviceActivity extends LastActivity, Partial<DeviceSequence> {}

/** Latest activity of a token. */
export interface TokenActivity {
  lastUsedAt?: number | undefined;
}

/** What is recorded of a kind of record, and what is known of it. */
export interface Activities {
  device: { recorded: LastActivity; known: DeviceActivity };
  token: { recorded: TokenActivity; known: TokenActivity };
}

/** What may be recorded of any kind of record. */
export type AnyActivity = LastActivity & TokenActivity;
export type ActivityKind = keyof Activities;
