import { iso } from '../../domain/clock.ts';
import { countText } from '../site/count-text.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { TvLogEntry } from './log-entry.ts';
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
