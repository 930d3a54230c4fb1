import type { Screen, ScreenStatus } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import { badConditions, type Condition, conditions } from '../../domain/conditions/condition.ts';
import { SignageError } from '../../domain/error.ts';
import type { ServiceReader } from '../connection/client.ts';
import { usage } from '../input/settings.ts';
import { member, type View } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { ofVenues, venueIdsOf } from '../records/of-venues.ts';
import { screenView } from '../records/views/place-views.ts';
import { isPrintable } from '../terminal/escape.ts';
import { countText, relativeTime } from '../terminal/text.ts';
import { playingText, switchText } from './layer-texts.ts';

/** A screen as `signage status` shows it, with the record of the service. */
export interface NamedStatus extends ScreenStatus {
  /** The full name: `Lobby/Main`. */
  name: string;
}

/** Reads the status of one screen. */
export async function readScreenStatus(
  reader: ServiceReader,
  screenId: string,
): Promise<ScreenStatus> {
  const { items } = await reader.read('listScreenStatus', { query: { screenId } });
  const [status] = items;
  if (!status) throw new SignageError('screen_not_found', 'There is no screen with this id.');
  return status;
}

/** The order of the list: what is surely wrong, what may be wrong, what is right. */
const worstFirst: readonly Condition[] = [
  ...badConditions,
  'partly_failing',
  'outdated',
  'never_seen',
  'unconfirmed',
  'asleep',
  'idle',
  'unpaired',
  'playing',
];

function compare(one: NamedStatus, other: NamedStatus): number {
  return (
    worstFirst.indexOf(one.condition) - worstFirst.indexOf(other.condition) ||
    (one.since ?? '').localeCompare(other.since ?? '') ||
    one.name.localeCompare(other.name, 'en', { numeric: true })
  );
}

/**
 * Says that webhooks are paused since a restore, so that nobody is notified. `undefined`: none is.
 * Services before this member do not say it.
 */
export async function restoredWebhooksText(reader: ServiceReader): Promise<string | undefined> {
  const { restoredWebhooks: count = 0 } = await reader.read('listScreenStatus', {
    query: { limit: 1 },
  });
  if (count === 0) return undefined;
  return `${countText(count, 'webhook')} ${count === 1 ? 'is' : 'are'} paused because a backup was restored: no receiver is notified.`;
}

export const resumeCommand = 'signage webhook resume --all';

interface StatusOptions {
  venue: readonly string[];
  selector: readonly string[];
  condition: Condition | undefined;
  /** In milliseconds. Default: the window of docs/protocol.md §2.7. */
  darkAfter: number | undefined;
}

/** Reads the status of all selected screens, the worst first. */
export async function readFleetStatus(
  call: CommandContext,
  { venue, selector, condition, darkAfter }: StatusOptions,
): Promise<NamedStatus[]> {
  const darkAfterSeconds =
    darkAfter === undefined ? undefined : Math.max(1, Math.round(darkAfter / secondMs));
  const query = { condition, darkAfterSeconds, selector: [...selector] };
  const screens: NamedStatus[] = [];
  for await (const page of ofVenues(await venueIdsOf(call, venue), (venueId) =>
    call.pages('listScreenStatus', { query: { ...query, venueId } }),
  ))
    for (const one of page) screens.push({ name: `${one.venueName}/${one.screen.name}`, ...one });
  return screens.sort(compare);
}

/** Reads `--fail-on`: conditions with commas, or `none`. */
export function readFailOn(text: string | undefined): readonly Condition[] {
  if (text === undefined) return badConditions;
  if (text === 'none') return [];
  const words = text.split(',').map((word) => word.trim());
  const wrong = words.find((word) => !conditions.some((one) => one === word));
  if (wrong !== undefined)
    throw usage(
      `--fail-on takes conditions or none, not "${wrong}".`,
      `Conditions: ${conditions.join(', ')}.`,
    );
  return words as Condition[];
}

/** Counts the screens of each condition: `1,000 screens: 3 dark, 997 playing`. */
export function countConditions(screens: readonly NamedStatus[]): string {
  const counts = worstFirst
    .map((condition) => ({
      condition,
      count: screens.filter((screen) => screen.condition === condition).length,
    }))
    .filter(({ count }) => count > 0)
    .map(({ condition, count }) => `${count.toLocaleString('en')} ${condition}`);
  const total = countText(screens.length, 'screen');
  return counts.length === 0 ? total : `${total}: ${counts.join(', ')}`;
}

/** Returns the year that a clock says if it is far off, such as 1970 after a power cut. */
export function wrongYear(offsetSeconds: number, nowMs: number): number | undefined {
  const year = new Date(nowMs + offsetSeconds * 1000).getUTCFullYear();
  return Math.abs(year - new Date(nowMs).getUTCFullYear()) > 1 ? year : undefined;
}

/** Says by how much the clock of a TV is wrong. `null`: it is right. */
export function clockText({ clock, at }: Pick<ScreenStatus, 'clock' | 'at'>): string | null {
  if (!clock) return null;
  const year = wrongYear(clock.offsetSeconds, Date.parse(at));
  if (year !== undefined) return `Its clock says ${year}.`;
  const seconds = Math.abs(clock.offsetSeconds);
  const off =
    seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return `Its clock is ${off} ${clock.offsetSeconds > 0 ? 'fast' : 'slow'}.`;
}

/** Says that a TV plays without its sound. `null`: it has sound, or should have none. */
export const mutedText = ({ muted }: Pick<ScreenStatus, 'muted'>): string | null =>
  muted ? 'Plays without sound: the browser forbids it.' : null;

/** Formats what a screen plays, or why it does not, a wrong clock, and missing sound. */
function glassText(
  status: Pick<ScreenStatus, 'playing' | 'reason' | 'layer' | 'clock' | 'muted' | 'at'> & {
    playlist?: ScreenStatus['playlist'];
  },
): string | null {
  const { reason, playlist = null } = status;
  const what = reason?.text ?? playingText(status);
  const next = switchText({ ...status, playlist });
  const texts = [what, next, clockText(status), mutedText(status)];
  return texts.filter((text) => text !== null).join(' ') || null;
}

/** Formats the newest playlist version of a screen: `7`, `7 expired`. */
export function playlistText({ playlist }: NamedStatus): string | null {
  if (!playlist) return null;
  const { version, status } = playlist;
  return status === 'active' ? `${version}` : `${version} ${status}`;
}

/** Formats a time by its distance from the time of the service. */
const relative = ({ at }: Pick<ScreenStatus, 'at'>, time: string | null | undefined) =>
  time ? relativeTime(Date.parse(time), Date.parse(at)) : null;

export const statusView: View<NamedStatus> = {
  columns: [
    { name: 'screen', value: ({ name }) => name },
    member('condition'),
    { name: 'since', value: ({ since }) => since, shown: (one) => relative(one, one.since) },
    { name: 'glass', value: glassText },
    {
      name: 'seen',
      value: ({ device }) => device?.lastSeenAt,
      shown: (one) => relative(one, one.device?.lastSeenAt),
      wide: true,
    },
    { name: 'playlist', value: playlistText, wide: true },
    { name: 'given', value: ({ device }) => device?.lastPlaylistVersion, wide: true },
    { name: 'model', value: ({ device }) => device?.deviceInfo.model, wide: true },
    { name: 'engine', value: ({ device }) => device?.report?.engine, wide: true },
    { name: 'deviceId', value: ({ device }) => device?.id, wide: true },
    { name: 'screenId', value: ({ screen }) => screen.id, wide: true },
  ],
  nameOf: ({ name, screen }) => (isPrintable(name) ? name : screen.id),
};

/** A screen with the judgement of the service. */
export type JudgedRecord = Screen & Omit<ScreenStatus, 'screen' | 'device' | 'playlist'>;

export function judgedScreen({
  screen,
  device,
  playlist,
  ...judgement
}: ScreenStatus): JudgedRecord {
  return { ...screen, ...judgement };
}

export const judgedScreenView = screenView<JudgedRecord>(
  ({ venueName }) => venueName,
  [
    member('condition'),
    { name: 'since', value: ({ since }) => since, shown: (one) => relative(one, one.since) },
    { name: 'glass', value: glassText },
  ],
);
