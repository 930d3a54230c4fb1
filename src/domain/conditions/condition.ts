import { minuteMs } from '../clock.ts';
import { smallest } from '../numbers/extremes.ts';
import type { PlaylistStatus } from '../playlists/playlist.ts';
import type { LastActivity, PlayError } from '../records/activity.ts';
import type { DeviceConfig } from '../records/config.ts';
import { onlineWindowMs } from '../records/online-window.ts';

/**
 * The conditions of a screen. The first one that applies is the condition (docs/protocol.md §5.15).
 */
export const conditions = [
  'unpaired',
  'dark',
  'never_seen',
  'stopped',
  'hidden',
  'failing',
  'silent',
  'asleep',
  'partly_failing',
  'unconfirmed',
  'idle',
  'outdated',
  'playing',
] as const;
export type Condition = (typeof conditions)[number];

/** Conditions in which the shop surely sees nothing, or nothing is known to be seen. */
export const badConditions: readonly Condition[] = [
  'dark',
  'stopped',
  'failing',
  'silent',
  'hidden',
];

/**
 * Errors older than this no longer make a screen that plays partly failing, unless its TV reports
 * less often.
 */
const recentErrorMs = 30 * minuteMs;
/** Assumed time between two reports of plays of a TV that has sent one so far. */
const unknownGapMs = 30 * minuteMs;
/** Number of items whose errors are kept. */
export const maxPlayErrors = 8;
/** A TV whose clock is off by more is told. */
export const clockToleranceMs = 2 * minuteMs;

/** A set of creatives, or a map by creative. */
type CreativeIds = Pick<ReadonlySet<string>, 'size' | 'has'>;

export interface ConditionInput {
  screenSince: number;
  /** The bound device. `undefined`: none. */
  device: { createdAt: number; activity: LastActivity } | undefined;
  config: Pick<DeviceConfig, 'syncIntervalMinutes' | 'heartbeatIntervalMinutes'>;
  /** The newest version. `undefined`: there was never one. */
  playlist:
    | {
        version: number;
        status: PlaylistStatus;
        publishedAt: number;
        longestItemMs: number;
        /** Ids of the items. Empty: not known. */
        creativeIds?: CreativeIds | undefined;
        /** The longest item of the layers beneath. `undefined`: there are none. */
        longestBeneathMs?: number | undefined;
      }
    | undefined;
  /** Silence after which a TV is dark. `undefined`: the window of docs/protocol.md §2.7. */
  darkAfterMs?: number | undefined;
  nowMs: number;
}

export interface Judgement {
  condition: Condition;
  /** Since when, in epoch milliseconds. `null`: unknown. */
  since: number | null;
  /** The errors that the condition follows from, the newest first. */
  errors: readonly PlayError[];
  /** Whether all items of a takeover or an entry fail, so that a layer beneath plays. */
  hasFallen?: boolean;
  /** For `asleep`: the condition that it has outside its hours. */
  asleepWith?: Condition;
}

/** A bad condition outside the hours of the screen. */
export function asleep({ condition, ...others }: Judgement): Judgement {
  return { ...others, condition: 'asleep', asleepWith: condition };
}

/** Whether the TV said last that its page is hidden. */
export const isHidden = ({ hidden }: Pick<LastActivity, 'hidden'>) => hidden?.until === null;

const none: readonly PlayError[] = [];
const judge = (condition: Condition, since: number | null, errors = none): Judgement => ({
  condition,
  since,
  errors,
});

/** Whether the device has made no call with its key yet. Its registration counts as being seen. */
export function isNeverSeen({
  createdAt,
  activity,
}: NonNullable<ConditionInput['device']>): boolean {
  const { lastSeenAt = createdAt, lastPlaylistAt, lastConfigAt, lastEventAt } = activity;
  const calls = [lastPlaylistAt, lastConfigAt, lastEventAt];
  return calls.every((at) => at === undefined) && lastSeenAt - createdAt < 1000;
}

/** The item that a TV last reported as visible, and when: the end of a play, or a first frame. */
export function lastVisible({
  lastPlayAt,
  lastPlayId = null,
  shown,
}: LastActivity): { creativeId: string | null; at: number } | undefined {
  if (shown && shown.at >= (lastPlayAt ?? 0)) return shown;
  return lastPlayAt === undefined ? undefined : { creativeId: lastPlayId, at: lastPlayAt };
}

/** Returns whether all items of a playlist fail, as far as the errors tell. */
function isAllFailing(
  creativeIds: CreativeIds | undefined,
  errors: readonly PlayError[],
  lastPlayId: string | null | undefined,
): boolean {
  if (!creativeIds || creativeIds.size === 0 || creativeIds.has(lastPlayId ?? '')) return false;
  const failing = errors.filter(({ creativeId }) => creativeIds.has(creativeId ?? ''));
  return failing.length >= Math.min(creativeIds.size, maxPlayErrors);
}

/** Judges what is on the glass of a screen (docs/protocol.md §5.15). */
export function conditionOf({
  screenSince,
  device,
  config,
  playlist,
  nowMs,
  darkAfterMs,
}: ConditionInput): Judgement {
  if (!device) return judge('unpaired', screenSince);
  const { activity, createdAt } = device;
  const { lastSeenAt = createdAt, seenSince = lastSeenAt, stoppedAt, hidden } = activity;
  const { at: lastPlayAt, creativeId: lastPlayId } = lastVisible(activity) ?? {};
  const windowMs = onlineWindowMs(config);
  if (Math.abs(nowMs - lastSeenAt) > (darkAfterMs ?? windowMs)) return judge('dark', lastSeenAt);
  if (isNeverSeen(device)) return judge('never_seen', device.createdAt);
  if (stoppedAt != null) return judge('stopped', stoppedAt);
  if (playlist?.status !== 'active') return judge('idle', null);
  if (hidden && isHidden(activity)) return judge('hidden', hidden.since);

  const { publishedAt, version, longestBeneathMs, creativeIds } = playlist;
  const { longestPlayGapMs = 0 } = activity;
  const recentMs = Math.max(recentErrorMs, 2 * longestPlayGapMs);
  const errors = (activity.playErrors ?? none).filter(
    ({ at }) =>
      // Events have whole seconds.
      at >= Math.floor(publishedAt / 1000) * 1000 &&
      (nowMs - at <= recentMs || at >= (lastPlayAt ?? 0)),
  );
  const isInstead = activity.shown?.isInstead === true && activity.shown.version === version;
  const hasFallen =
    isInstead || (longestBeneathMs !== undefined && isAllFailing(creativeIds, errors, lastPlayId));
  const longestItemMs = Math.max(playlist.longestItemMs, (hasFallen && longestBeneathMs) || 0);
  const [newest] = errors;
  const failingSince = smallest([
    ...errors.map(({ since }) => since),
    ...(isInstead ? [activity.shown?.at ?? nowMs] : []),
  ]);
  // The next item may fail in the second in which a play ends.
  if (newest && newest.at >= (lastPlayAt ?? 0)) {
    const silentMs = nowMs - Math.max(lastPlayAt ?? failingSince, publishedAt);
    const reportMs = Math.max(config.heartbeatIntervalMinutes * minuteMs, longestPlayGapMs);
    if (silentMs > longestItemMs + reportMs) return judge('failing', failingSince, errors);
  }

  const playingMs = Math.max(windowMs, 3 * longestPlayGapMs) + longestItemMs;
  const isPlaying = lastPlayAt !== undefined && nowMs - lastPlayAt <= playingMs;
  const quietSince = Math.max(lastPlayAt ?? 0, seenSince, publishedAt, hidden?.until ?? 0);
  // After a pause that `seenSince` does not see, it plays an item and reports it first.
  const returnMs = longestItemMs + config.heartbeatIntervalMinutes * minuteMs;
  const gapMs = activity.longestPlayGapMs ?? unknownGapMs;
  const silentMs = Math.max(windowMs, 3 * gapMs) + longestItemMs + returnMs;
  if (lastPlayAt !== undefined && !isPlaying && nowMs - quietSince > silentMs)
    return judge('silent', lastPlayAt);
  if (isPlaying && (errors.length > 0 || isInstead))
    return { ...judge('partly_failing', failingSince, errors), hasFallen };
  if (!isPlaying || activity.isPlayTimeGuessed) return judge('unconfirmed', quietSince, errors);
  const isOutdated =
    (activity.lastPlaylistVersion ?? version) < version &&
    nowMs - publishedAt > 2 * config.syncIntervalMinutes * minuteMs;
  return isOutdated
    ? judge('outdated', publishedAt)
    : judge('playing', activity.playsSince ?? lastPlayAt);
}
