import type { EventInput, PlaylistItem } from '../../../client/entities.ts';
import { iso } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { nameInMediaUrl } from '../../../domain/playlists/media-url.ts';
import type {
  DropReason,
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  RuntimeOperation,
  TvIdentity,
  UnpairedReason,
} from '../../../player/observer.ts';
import type { PlayerEnd } from '../../../player/options.ts';
import { escapeControl } from '../../terminal/escape.ts';
import { countText } from '../../terminal/text.ts';

export const phaseWords: Readonly<Record<PlayerPhase, string>> = {
  unpaired: 'not paired',
  registering: 'registering',
  playing: 'playing',
  dark: 'nothing to show',
  offline: 'offline',
};

export const operationWords: Readonly<Record<RuntimeOperation, string>> = {
  registerDevice: 'register',
  getDeviceConfig: 'config',
  getPlaylist: 'playlist',
  getDeviceChanges: 'changes',
  postEvents: 'events',
  rotateDeviceKey: 'rotate',
};

export const unpairedWords: Readonly<Record<UnpairedReason, string>> = {
  new: 'This TV is not paired yet.',
  revoked: 'The key of this TV was revoked.',
  orphaned: 'The screen of this TV was deleted or has another TV.',
  invalid: 'The service does not know the key of this TV.',
  refused: 'The code was rejected.',
};

const dropWords: Readonly<Record<DropReason, string>> = {
  refused: 'the service rejected them',
  overflow: 'the queue was full or they were too old',
  unpaired: 'their device key is lost',
};

/** Returns the name of the item, else the one in its URL. If the URL is invalid, returns the id. */
export function itemName({ name, creativeUrl, creativeId }: PlaylistItem): string {
  if (typeof name === 'string') return name;
  return URL.canParse(creativeUrl) ? nameInMediaUrl(new URL(creativeUrl)) : creativeId;
}

/** What a TV draws while it is identified: `Lobby / Main / 1a2b`. */
export const identityText = ({ venue, screen, device }: TvIdentity): string =>
  [venue, screen, device].join(' / ');

const round = (seconds: number) => Math.round(seconds * 10) / 10;

/** Formats a time span: `15 s`, `1.5 s`, `20 min`, `3 h` */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${round(seconds)} s`;
  return seconds < 7200 ? `${round(seconds / 60)} min` : `${round(seconds / 3600)} h`;
}

/**
 * Describes the result of a call: `304 in 4 ms`, `401 device_key_revoked in 3 ms`, `unreachable in
 * 2 ms`.
 */
export function answerText({
  status,
  code,
  ms,
}: Pick<PlayerAnswer, 'status' | 'code' | 'ms'>): string {
  return `${[status, code].filter((one) => one !== undefined).join(' ')} in ${Math.round(ms)} ms`;
}

/** Describes an event: `impression of 0190…, 15 s` */
function eventText({ type, creativeId, duration }: EventInput): string {
  const of = typeof creativeId === 'string' ? ` of ${creativeId}` : '';
  return `${type}${of}${typeof duration === 'number' ? `, ${spanText(duration)}` : ''}`;
}

/** The kinds of log entries. `-o ndjson` prints their members, except `error`, as JSON. */
type What =
  | { what: 'phase'; phase: PlayerPhase }
  | { what: 'bound'; deviceId: string; screenId: string; tenantId: string }
  | { what: 'rotated' }
  | { what: 'fallBack'; code: string }
  | { what: 'unpaired'; why: UnpairedReason; code: string | undefined }
  | { what: 'identify'; identity: TvIdentity | null }
  | { what: 'reload'; reloadId: string }
  | { what: 'show'; item: PlaylistItem | null }
  | { what: 'event'; event: EventInput }
  | { what: 'sending'; events: number; idempotencyKey: string }
  | { what: 'acknowledged'; events: number; received: number; idempotencyKey: string }
  | { what: 'dropped'; events: readonly EventInput[]; why: DropReason }
  | ({ what: 'answer' } & Omit<PlayerAnswer, 'atMs'>)
  | { what: 'failure'; code: string; message: string; error: unknown }
  | { what: 'end'; reason: PlayerEnd['reason'] };

/** A log entry with its time, by the clock of the TV. */
export type TvLogEntry = What & { atMs: number };

/** Makes a player observer that turns each callback into a log entry. */
export function observe(now: () => number, log: (entry: TvLogEntry) => void): PlayerObserver {
  const add = (what: What) => log({ ...what, atMs: now() });
  return {
    onEvent: (event) => add({ what: 'event', event }),
    onSending: ({ events, idempotencyKey }) =>
      add({ what: 'sending', events: events.length, idempotencyKey }),
    onAcknowledged: ({ events, idempotencyKey }, received) =>
      add({ what: 'acknowledged', events: events.length, received, idempotencyKey }),
    onDropped: (events, why) => add({ what: 'dropped', events, why }),
    onAnswer: ({ atMs: _, ...answer }) => add({ what: 'answer', ...answer }),
    onPhase: (phase) => add({ what: 'phase', phase }),
    onShow: (item) => add({ what: 'show', item: item ?? null }),
    onIdentify: (identity) => add({ what: 'identify', identity: identity ?? null }),
    onReload: (reloadId) => add({ what: 'reload', reloadId }),
    onBound: (binding) => add({ what: 'bound', ...binding }),
    onRotated: () => add({ what: 'rotated' }),
    onFallBack: ({ code }) => add({ what: 'fallBack', code }),
    onUnpaired: (why, error) => add({ what: 'unpaired', why, code: error?.code }),
    onFailure: (error) => {
      const code = error instanceof SignageError ? error.code : 'unexpected';
      add({
        what: 'failure',
        code,
        message: error instanceof Error ? error.message : String(error),
        error,
      });
    },
  };
}

const endWords = {
  stopped: 'stopped',
  aborted: 'aborted',
  unpaired: 'no key and no code',
};

/**
 * Returns the label and text of a log entry. Returns `undefined` for an entry that needs no line of
 * its own.
 */
function words(entry: TvLogEntry): [label: string, text: string] | undefined {
  switch (entry.what) {
    case 'phase':
      return ['phase', phaseWords[entry.phase]];
    case 'bound':
      return ['paired', `with the screen ${entry.screenId}, as device ${entry.deviceId}`];
    case 'rotated':
      return ['key', 'uses a new key; keeps the previous one'];
    case 'fallBack':
      return ['key', `uses the previous key again: ${entry.code}`];
    case 'unpaired':
      return ['unpaired', unpairedWords[entry.why]];
    case 'identify':
      return ['identify', entry.identity ? identityText(entry.identity) : 'over'];
    case 'reload':
      return ['reload', `starts anew: ${entry.reloadId}`];
    case 'show':
      if (!entry.item) return ['shows', 'nothing'];
      return [
        'shows',
        `${itemName(entry.item)}, ${entry.item.creativeType}, ${spanText(entry.item.duration)}`,
      ];
    case 'event':
      return ['event', eventText(entry.event)];
    case 'sending':
      return undefined;
    case 'acknowledged':
      return ['stored', countText(entry.received, 'event')];
    case 'dropped':
      return ['dropped', `${countText(entry.events.length, 'event')}: ${dropWords[entry.why]}`];
    case 'answer':
      return [operationWords[entry.operation], answerText(entry)];
    case 'failure':
      return ['problem', entry.message];
    case 'end':
      return ['end', endWords[entry.reason]];
  }
}

/** Formats a log entry for people: `2026-11-20 12:00:05  playlist  200 in 4 ms` */
export function logLine(entry: TvLogEntry): string | undefined {
  const parts = words(entry);
  if (!parts) return undefined;
  const [label, text] = parts;
  return `${iso(entry.atMs).slice(0, 19).replace('T', ' ')}  ${label.padEnd(8)}  ${escapeControl(text)}\n`;
}

export function logRecord({ atMs, ...entry }: TvLogEntry): object {
  if (entry.what !== 'failure') return { at: iso(atMs), ...entry };
  const { error: _, ...failure } = entry;
  return { at: iso(atMs), ...failure };
}
