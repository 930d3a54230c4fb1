import { iso } from '../../domain/clock.ts';
import { counted } from '../site/counted.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Happening } from './happening.ts';
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
  aborted: 'ended at once',
  unpaired: 'without a key and a code',
};

/** What happened, as a label and a text; `undefined` for what would only say twice what another line says. */
function words(happening: Happening): [label: string, text: string] | undefined {
  switch (happening.what) {
    case 'phase':
      return ['phase', phaseWords[happening.phase]];
    case 'bound':
      return ['paired', `with the screen ${happening.screenId}, as device ${happening.deviceId}`];
    case 'rotated':
      return ['key', 'a new one, used from now on; the former is kept'];
    case 'fallBack':
      return ['key', `back to the former one: ${happening.code}`];
    case 'unpaired':
      return ['unpaired', unpairedWords[happening.why]];
    case 'show':
      if (!happening.item) return ['shows', 'nothing'];
      return [
        'shows',
        `${itemName(happening.item)}, ${happening.item.creativeType}, ${spanText(happening.item.duration)}`,
      ];
    case 'event':
      return ['event', eventText(happening.event)];
    case 'sending':
      return undefined;
    case 'acknowledged':
      return ['stored', counted(happening.received, 'event')];
    case 'dropped':
      return [
        'dropped',
        `${counted(happening.events.length, 'event')}: ${dropWords[happening.why]}`,
      ];
    case 'answer':
      return [operationWords[happening.operation], answerText(happening)];
    case 'failure':
      return ['trouble', happening.message];
    case 'end':
      return ['end', endWords[happening.reason]];
  }
}

/** A happening as a line for people: `2026-11-20 12:00:05  playlist  200 in 4 ms` */
export function tvLine(happening: Happening): string | undefined {
  const said = words(happening);
  if (!said) return undefined;
  const [label, text] = said;
  return `${iso(happening.atMs).slice(0, 19).replace('T', ' ')}  ${label.padEnd(8)}  ${escapeControl(text)}\n`;
}

/** The same for programs: an object on a line. */
export function tvRecord({ atMs, ...happening }: Happening): object {
  if (happening.what !== 'failure') return { at: iso(atMs), ...happening };
  const { error: _, ...failure } = happening;
  return { at: iso(atMs), ...failure };
}
