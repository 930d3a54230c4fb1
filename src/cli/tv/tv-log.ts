import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { EventInput, Item } from '../../simulator/player/batch.ts';
import type {
  DropReason,
  PlayerAnswer,
  PlayerObserver,
  PlayerPhase,
  UnpairedReason,
} from '../../simulator/player/observer.ts';
import type { PlayerEnd } from '../../simulator/player/options.ts';
import { countText } from '../records/text.ts';
import { escapeControl } from '../terminal/escape.ts';
import {
  answerText,
  dropWords,
  eventText,
  itemName,
  operationWords,
  phaseWords,
  spanText,
  unpairedWords,
} from './tv-words.ts';

/** The kinds of log entries. Their members are the JSON of `-o ndjson`. */
type What =
  | { what: 'phase'; phase: PlayerPhase }
  | { what: 'bound'; deviceId: string; screenId: string; tenantId: string }
  | { what: 'rotated' }
  | { what: 'fallBack'; code: string }
  | { what: 'unpaired'; why: UnpairedReason; code: string | undefined }
  | { what: 'show'; item: Item | null }
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
export function observe(
  now: () => number,
  log: (entry: TvLogEntry) => void,
): Required<PlayerObserver> {
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
 * Returns the label and text of a log entry. Returns `undefined` for an entry that repeats another
 * line.
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

/** Formats a log entry as a JSON object. */
export function logRecord({ atMs, ...entry }: TvLogEntry): object {
  if (entry.what !== 'failure') return { at: iso(atMs), ...entry };
  const { error: _, ...failure } = entry;
  return { at: iso(atMs), ...failure };
}
