import type { ActivePlaylist, DeviceInfoInput } from '../../../client/entities.ts';
import { minuteMs } from '../../../domain/clock.ts';
import type { RuntimeOperation, TvIdentity } from '../../../player/observer.ts';
import type { PlayerView } from '../../../player/options.ts';
import { type LiveLine, type LiveViewSize, line } from '../../terminal/live-view.ts';
import { countText } from '../../terminal/text.ts';
import {
  answerText,
  identityText,
  itemName,
  operationWords,
  phaseWords,
  spanText,
  type TvLogEntry,
} from './tv-log.ts';

/** State that the live view shows in addition to the state of the player. */
export interface TvStatus {
  service: string;
  deviceInfo: DeviceInfoInput;
  speed: number;
  /** Number of events that the service has stored since the start. */
  stored: number;
  dropped: number;
  /** What the TV draws over the picture. */
  identity: TvIdentity | null;
  /** The last failure. Cleared by the next successful call. */
  problem: string | undefined;
}

export function updateStatus(status: TvStatus, entry: TvLogEntry): void {
  if (entry.what === 'acknowledged') status.stored += entry.received;
  if (entry.what === 'dropped') status.dropped += entry.events.length;
  if (entry.what === 'identify') status.identity = entry.identity;
  if (entry.what === 'failure') status.problem = entry.message;
  if (entry.what === 'answer' && entry.code === undefined) status.problem = undefined;
}

const maxBarWidth = 40;
const blank = line('');
const calls: readonly RuntimeOperation[] = [
  'registerDevice',
  'getDeviceConfig',
  'getPlaylist',
  'getDeviceChanges',
  'postEvents',
  'rotateDeviceKey',
];

/** Puts two texts on one line, or on two lines if they do not fit. */
function sides(left: string, right: string, { columns }: LiveViewSize): string[] {
  const gap = columns - 1 - left.length - right.length;
  return gap >= 2 ? [`${left}${' '.repeat(gap)}${right}`] : [left, right];
}

function headLines(
  view: PlayerView,
  { service, deviceInfo, speed }: TvStatus,
  size: LiveViewSize,
): LiveLine[] {
  const { manufacturer, model, osVersion, appVersion } = deviceInfo;
  const name = [[manufacturer, model].filter(Boolean).join(' '), osVersion, appVersion]
    .filter(Boolean)
    .join(' · ');
  const phase =
    speed === 1
      ? phaseWords[view.phase]
      : `${phaseWords[view.phase]}, ×${Number.isFinite(speed) ? speed : 'max'}`;
  const ids =
    view.screenId === undefined ? [] : [`screen ${view.screenId}`, `device ${view.deviceId}`];
  return [
    ...sides(name || 'TV', service, size).map((text) => line(text, 'strong')),
    ...ids.map((text) => line(text, 'faint')),
    line(phase, view.phase === 'playing' ? 'good' : 'bad'),
    blank,
  ];
}

/** Renders a progress bar: `█████░░░░░  5 of 15 s` */
function progressText(playedSeconds: number, seconds: number, columns: number): string {
  const words = `${Math.floor(playedSeconds)} of ${spanText(seconds)}`;
  const width = Math.max(0, Math.min(maxBarWidth, columns - words.length - 6));
  const full = Math.min(width, Math.round((playedSeconds / seconds) * width));
  return `  ${'█'.repeat(full)}${'░'.repeat(width - full)}  ${words}`;
}

function showLines(
  { showing, playlist }: PlayerView,
  nowMs: number,
  { columns }: LiveViewSize,
): LiveLine[] {
  if (!showing || !playlist) return [line('■ shows nothing', 'faint'), blank];
  const { item, place, sinceMs } = showing;
  const { items } = playlist;
  const played = Math.min(item.duration, Math.max(0, (nowMs - sinceMs) / 1000));
  const coming = [1, 2, 3]
    .slice(0, items.length - 1)
    .map((step) => items[(place + step) % items.length]);
  const next = coming.flatMap((one) =>
    one ? [`${itemName(one)} (${spanText(one.duration)})`] : [],
  );
  const at = `${Math.min(place + 1, items.length)} of ${items.length}`;
  return [
    line(`▶ ${itemName(item)}, ${item.creativeType}, ${at}`, 'strong'),
    line(progressText(played, item.duration, columns)),
    line(next.length > 0 ? `  then ${next.join(', ')}` : '  then repeats', 'faint'),
    blank,
  ];
}

const dayText = (timeMs: number) =>
  Math.abs(timeMs) <= 8.64e15 ? new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ') : '?';

function playlistText(
  playlist: ActivePlaylist | undefined,
  validUntilMs: number | undefined,
): string {
  if (!playlist) return 'none';
  const { version, entryId, items } = playlist;
  const entry = typeof entryId === 'string' ? [`entry ${entryId}`] : [];
  const end =
    validUntilMs === Number.POSITIVE_INFINITY ? [] : [`until ${dayText(validUntilMs ?? 0)} UTC`];
  return [`version ${version}`, ...entry, countText(items.length, 'item'), ...end].join(', ');
}

function stateLines(view: PlayerView, { stored, dropped }: TvStatus): LiveLine[] {
  const { config, playlist, validUntilMs, queued, batch } = view;
  const policy = config?.cachePolicy;
  const intervals =
    config &&
    `sync ${config.syncIntervalMinutes} min, heartbeat ${config.heartbeatIntervalMinutes} min`;
  const inBatch = batch ? ` (${batch.events.length} in a batch)` : '';
  return [
    line(`playlist ${playlistText(playlist, validUntilMs)}`),
    line(`config   ${intervals ?? 'none'}`),
    line(`cache    ${policy ? `${policy.maxSizeGB} GB, ${policy.retentionDays} days` : 'none'}`),
    line(`events   ${queued} queued${inBatch}, ${stored} stored, ${dropped} dropped`),
    blank,
  ];
}

function answerLines({ answers }: PlayerView, nowMs: number): LiveLine[] {
  return calls.flatMap((operation) => {
    const answer = answers[operation];
    if (!answer) return [];
    const age = nowMs - answer.atMs;
    const ago =
      age < minuteMs
        ? `${Math.max(0, Math.floor(age / 1000))} s ago`
        : `${Math.floor(age / minuteMs)} min ago`;
    const isGood = answer.status !== undefined && answer.status < 400;
    const text = `${operationWords[operation].padEnd(9)}${answerText(answer)}, ${ago}`;
    return line(text, isGood ? 'good' : 'bad');
  });
}

/**
 * Renders the live view of a TV. The most important lines come first, because a small terminal cuts
 * off the last ones.
 */
export function renderTv(
  view: PlayerView,
  status: TvStatus,
  nowMs: number,
  size: LiveViewSize,
): LiveLine[] {
  return [
    ...(status.identity ? [line(`◉ ${identityText(status.identity)}`, 'strong'), blank] : []),
    ...headLines(view, status, size),
    ...showLines(view, nowMs, size),
    ...stateLines(view, status),
    ...answerLines(view, nowMs),
    ...(status.problem === undefined ? [] : [line(status.problem, 'bad')]),
    line('Ctrl-C stops the TV.', 'faint'),
  ];
}
