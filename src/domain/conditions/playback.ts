import { dayMs, minuteMs } from '../clock.ts';
import { epochMs } from '../fields.ts';
import type { LastActivity, PlayError, ShownLayer } from '../records/activity.ts';
import { readPlayerReport, type StoredReport } from '../records/player-report.ts';
import { maxPlayErrors } from './condition.ts';

/** The members of an activity that events change. */
export type PlaybackActivity = Pick<
  LastActivity,
  | 'lastPlayAt'
  | 'lastPlayId'
  | 'isPlayTimeGuessed'
  | 'playsSince'
  | 'lastPlayReportAt'
  | 'longestPlayGapMs'
  | 'playGapAt'
  | 'playErrors'
  | 'stoppedAt'
  | 'clockOffsetMs'
  | 'mutedSince'
  | 'shown'
  | 'hidden'
  | 'report'
>;

const maxReasonLength = 120;
/** Longer ids of entries are ignored. Names have at most 200 characters. */
const maxEntryId = 400;
/** A longer break between two plays starts a new series. */
const seriesBreakMs = 30 * minuteMs;

/** The members of an event that concern playback. */
interface PlaybackEvent {
  type: string;
  timestamp: number;
  creativeId?: string | null | undefined;
}

const lowerCase = (id: unknown) => (typeof id === 'string' ? id.toLowerCase() : null);

/** What one batch says about playback, by the TV's clock. */
export class BatchPlayback {
  /** Latest play of each creative, in epoch milliseconds. */
  readonly plays = new Map<string | null, number>();
  readonly errors: { creativeId: string | null; reason: string; at: number }[] = [];
  isStarted = false;
  /** Set if the last event says that the app has stopped. */
  stoppedAt: number | null = null;
  /** When the browser refused sound. `null`: it no longer does. `undefined`: nothing says it. */
  mutedAt: number | null | undefined;
  /** The last `shown`. `null`: the app has started or stopped since. `undefined`: neither. */
  shown: ShownLayer | null | undefined;
  /** Whether the page is hidden, and since when. `undefined`: nothing says it. */
  hidden: { isHidden: boolean; at: number } | undefined;
  /** The last `player_report`. */
  report: StoredReport | undefined;

  add(event: PlaybackEvent): void {
    const { type, timestamp } = event;
    this.stoppedAt = null;
    if (type === 'impression' || type === 'play')
      this.plays.set(lowerCase(event.creativeId), epochMs(timestamp));
    else if (type === 'playback_error') this.#addError(event);
    else if (type === 'muted') this.mutedAt ??= epochMs(timestamp);
    else if (type === 'unmuted') this.mutedAt = null;
    else if (type === 'shown') this.#addShown(event);
    else if (type === 'player_report') this.report = readPlayerReport(event);
    else if (type === 'app_started') this.#start();
    else if (type === 'app_stopped') this.#stop(timestamp);
    if (type === 'app_started' || type === 'heartbeat') this.#noteHidden(event);
  }

  #noteHidden(event: PlaybackEvent): void {
    const isHidden = (event as { hidden?: unknown }).hidden === true;
    if (isHidden !== this.hidden?.isHidden)
      this.hidden = { isHidden, at: epochMs(event.timestamp) };
  }

  #start(): void {
    this.isStarted = true;
    this.mutedAt = null;
    this.shown = null;
  }

  #stop(timestamp: number): void {
    this.stoppedAt = epochMs(timestamp);
    this.shown = null;
  }

  #addShown(event: PlaybackEvent): void {
    const {
      version,
      entryId = null,
      failedLayer,
    } = event as Partial<Record<'version' | 'entryId' | 'failedLayer', unknown>>;
    const isEntry =
      entryId === null || (typeof entryId === 'string' && entryId.length <= maxEntryId);
    if (!Number.isSafeInteger(version) || !isEntry) return;
    this.shown = {
      version: version as number,
      entryId,
      creativeId: lowerCase(event.creativeId),
      isInstead: typeof failedLayer === 'string',
      at: epochMs(event.timestamp),
    };
  }

  #addError(event: PlaybackEvent): void {
    const { reason: given, message } = event as { reason?: unknown; message?: unknown };
    const reason = given ?? message;
    this.errors.push({
      creativeId: lowerCase(event.creativeId),
      reason: typeof reason === 'string' ? reason.slice(0, maxReasonLength) : 'unknown',
      at: epochMs(event.timestamp),
    });
  }
}

/** Returns what the events of a batch say about playback. */
export function batchPlayback(events: readonly PlaybackEvent[]): BatchPlayback {
  const playback = new BatchPlayback();
  for (const event of events) playback.add(event);
  return playback;
}

interface Receipt {
  receivedAt: number;
  /** The TV's clock when it sent the batch. */
  deviceTime: number | undefined;
}

/**
 * Returns a function that converts times of the TV to times of the service. Without the time of the
 * TV, a timestamp more than a day from its receipt is replaced by the receipt. No time is before
 * 1970, because a TV may claim a time that has no date.
 */
function corrector({ receivedAt, deviceTime }: Receipt) {
  const offsetMs = deviceTime === undefined ? 0 : receivedAt - deviceTime;
  return (time: number): { at: number; isGuessed: boolean } => {
    const at = time + offsetMs;
    const isGuessed = deviceTime === undefined && Math.abs(receivedAt - at) > dayMs;
    return { at: isGuessed ? receivedAt : Math.max(0, Math.min(at, receivedAt)), isGuessed };
  };
}

function hiddenAfter(
  { hidden }: BatchPlayback,
  known: PlaybackActivity,
  receipt: Receipt,
): PlaybackActivity {
  const wasHidden = known.hidden?.until === null;
  if (!hidden || hidden.isHidden === wasHidden) return {};
  const { at } = corrector(receipt)(hidden.at);
  const since = hidden.isHidden ? at : (known.hidden?.since ?? at);
  return { hidden: { since, until: hidden.isHidden ? null : at } };
}

function playsAfter(
  batch: BatchPlayback,
  known: PlaybackActivity,
  receipt: Receipt,
): PlaybackActivity {
  const correct = corrector(receipt);
  const { receivedAt } = receipt;
  let latest: { creativeId: string | null; at: number; isGuessed: boolean } | undefined;
  for (const [creativeId, time] of batch.plays) {
    const play = correct(time);
    if (!latest || play.at >= latest.at) latest = { creativeId, ...play };
  }
  if (!latest) return {};
  const { lastPlayAt, lastPlayReportAt, longestPlayGapMs = 0, playGapAt = 0, hidden } = known;
  const wasHidden = hidden !== undefined && (hidden.until ?? receivedAt) > (lastPlayReportAt ?? 0);
  // Neither the time before the first report nor a time without power or picture tells how often
  // it reports.
  const gapMs =
    lastPlayReportAt === undefined || batch.isStarted || wasHidden
      ? undefined
      : receivedAt - lastPlayReportAt;
  const isLongest =
    gapMs !== undefined && (gapMs >= longestPlayGapMs || receivedAt - playGapAt > dayMs);
  const isNewer = lastPlayAt === undefined || latest.at >= lastPlayAt;
  const isSeries =
    lastPlayAt !== undefined && latest.at - lastPlayAt <= Math.max(seriesBreakMs, longestPlayGapMs);
  return {
    lastPlayReportAt: receivedAt,
    ...(isLongest && { longestPlayGapMs: gapMs, playGapAt: receivedAt }),
    ...(isNewer && {
      lastPlayAt: latest.at,
      lastPlayId: latest.creativeId,
      isPlayTimeGuessed: latest.isGuessed,
      playsSince: isSeries ? (known.playsSince ?? latest.at) : latest.at,
    }),
  };
}

/** Returns the errors of items that were not played since. */
function errorsAfter(
  batch: BatchPlayback,
  { playErrors = [] }: PlaybackActivity,
  receipt: Receipt,
): readonly PlayError[] {
  if (batch.errors.length === 0 && playErrors.length === 0) return playErrors;
  const correct = corrector(receipt);
  const errors = new Map(playErrors.map((error) => [error.creativeId, error]));
  for (const { creativeId, reason, at: time } of batch.errors) {
    const { at } = correct(time);
    errors.set(creativeId, { creativeId, reason, since: errors.get(creativeId)?.since ?? at, at });
  }
  return [...errors.values()]
    .filter(({ creativeId, at }) => {
      const played = batch.plays.get(creativeId);
      return played === undefined || correct(played).at < at;
    })
    .sort((one, other) => other.at - one.at)
    .slice(0, maxPlayErrors);
}

function mutedAfter(
  { mutedAt }: BatchPlayback,
  known: PlaybackActivity,
  receipt: Receipt,
): PlaybackActivity {
  if (mutedAt === undefined) return {};
  if (mutedAt === null) return { mutedSince: null };
  return { mutedSince: known.mutedSince ?? corrector(receipt)(mutedAt).at };
}

function reportAfter({ report }: BatchPlayback, receipt: Receipt): PlaybackActivity {
  return report ? { report: { ...report, at: corrector(receipt)(report.at).at } } : {};
}

function shownAfter({ shown }: BatchPlayback, receipt: Receipt): PlaybackActivity {
  if (!shown) return shown === null ? { shown } : {};
  return { shown: { ...shown, at: corrector(receipt)(shown.at).at } };
}

/** Returns the members that change with a batch. */
export function playbackAfter(
  batch: BatchPlayback,
  known: PlaybackActivity,
  receipt: Receipt,
): PlaybackActivity {
  const { receivedAt, deviceTime } = receipt;
  const hidden = hiddenAfter(batch, known, receipt);
  return {
    ...playsAfter(batch, { ...known, ...hidden }, receipt),
    ...hidden,
    ...mutedAfter(batch, known, receipt),
    ...shownAfter(batch, receipt),
    ...reportAfter(batch, receipt),
    playErrors: errorsAfter(batch, known, receipt),
    stoppedAt: batch.stoppedAt === null ? null : corrector(receipt)(batch.stoppedAt).at,
    clockOffsetMs: deviceTime === undefined ? null : receivedAt - deviceTime,
  };
}
