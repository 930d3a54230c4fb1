// Prints notes for a list that is empty, probably because a word of a filter is mistyped.
import { auditActions } from '../../domain/records/audit.ts';
import { parseSelector } from '../../domain/selector.ts';
import type { CommandContext } from '../program/context.ts';
import { didYouMean } from './near-names.ts';

/** The types of docs/protocol.md §2.5. TV apps may send others. */
export const eventTypes = [
  'impression',
  'play',
  'heartbeat',
  'playback_error',
  'app_started',
  'app_stopped',
  'log',
];

type Noting = Pick<CommandContext, 'note'>;

/** Prints a note about an unknown word. Suggests similar known words, or else lists all of them. */
async function noteUnknown(
  { note }: Noting,
  message: string,
  { word, known }: { word: string; known: readonly string[] },
): Promise<void> {
  const question = await didYouMean(word, known);
  note(`${message} ${question || `Known are ${known.join(', ')}.`}`);
}

/** Prints a note if an event type is not a well-known one. */
export async function noteUnknownType(call: Noting, word: string | undefined): Promise<void> {
  if (word === undefined || eventTypes.includes(word)) return;
  await noteUnknown(call, `"${word}" is not a well-known type.`, { word, known: eventTypes });
}

/** Prints a note if the service records no action of this name. */
export async function noteUnknownAction(call: Noting, word: string | undefined): Promise<void> {
  if (word === undefined || auditActions.some((action) => action === word)) return;
  await noteUnknown(call, `There is no action "${word}".`, { word, known: auditActions });
}

async function keysInUse(call: CommandContext): Promise<Record<'screen' | 'venue', string[]>> {
  const keys = (records: readonly { labels: Readonly<Record<string, string>> }[]) => [
    ...new Set(records.flatMap(({ labels }) => Object.keys(labels))),
  ];
  return { screen: keys(await call.all('listScreens')), venue: keys(await call.all('listVenues')) };
}

/**
 * Prints a note for each label key that no screen, or no venue, has. Ignores negated selectors.
 * `labels` have the form `key=value`.
 */
export async function noteUnknownLabels(
  call: CommandContext,
  { labels, selectors }: { labels: readonly string[]; selectors: readonly string[] },
): Promise<void> {
  const wanted = [
    ...labels.map((text) => ({ of: 'screen' as const, key: text.replace(/=.*/s, '') })),
    ...selectors.flatMap((text) => parseSelector(text)).filter(({ negated }) => !negated),
  ];
  if (wanted.length === 0) return;
  const inUse = await keysInUse(call);
  for (const { of, key } of wanted) {
    const known = inUse[of];
    if (known.includes(key)) continue;
    const message = `No ${of} has the label "${key}".`;
    if (known.length === 0) call.note(message);
    else await noteUnknown(call, message, { word: key, known });
  }
}
