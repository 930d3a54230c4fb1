import type { CallAnswer, ListItem } from '../../client/call.ts';
import { hourMs, minuteMs } from '../../domain/clock.ts';
import type { CommandContext } from '../command/context.ts';
import { member, type View } from '../output/view.ts';
import { findVenue } from '../records/find.ts';
import { relativeTime } from '../records/text.ts';
import { isPrintable } from '../terminal/escape.ts';

type Received = ListItem<'listScreenStatus'>;
type PlaybackError = CallAnswer<'listEvents'>['items'][number];

/**
 * Status of a screen, the worst first.
 *
 * - `dark`: its TV is offline.
 * - `failing`: its TV is online and has no playlist, or not the newest version.
 * - `unpaired`: it has no TV.
 * - `ok`: none of the above applies.
 */
const statuses = ['dark', 'failing', 'unpaired', 'ok'] as const;
type Status = (typeof statuses)[number];

interface LastError {
  at: string;
  text: string;
}

/** A screen as `signage status` shows it, with the record of the service. */
export interface ScreenStatus extends Received {
  /** The full name: `Lobby/Main`. */
  name: string;
  status: Status;
  /** Time at which the TV of a dark screen was last seen. `null` for other screens. */
  darkSince: string | null;
  lastError: LastError | null;
}

/** Time within which a TV should fetch a new version. */
const fetchDeadlineMs = 15 * minuteMs;
/** Age up to which playback errors are shown. */
const recentMs = hourMs;

/** Age of a time by the clock of the service. */
const ageMs = ({ at }: Received, time: string) => Date.parse(at) - Date.parse(time);

/**
 * Returns the time at which the TV was last seen. Default: its registration, because a crash of the
 * service may lose the time.
 */
const seenAt = ({ lastSeenAt, createdAt }: NonNullable<Received['device']>) =>
  lastSeenAt ?? createdAt;

/** Whether the TV got no playlist, or has not fetched the current version in time. */
function lacksPlaylist(received: Received): boolean {
  const { device, playlist } = received;
  if (!device) return false;
  const { lastPlaylistAt, lastPlaylistStatus, lastPlaylistVersion } = device;
  if (lastPlaylistAt === null) return ageMs(received, device.createdAt) > fetchDeadlineMs;
  if (lastPlaylistStatus === 404 || lastPlaylistStatus === 500) return true;
  return (
    playlist?.status === 'active' &&
    playlist.version !== lastPlaylistVersion &&
    ageMs(received, playlist.publishedAt) > fetchDeadlineMs
  );
}

function statusOf(received: Received, darkAfterMs: number | undefined): Status {
  const { device } = received;
  if (!device) return 'unpaired';
  const isDark =
    darkAfterMs === undefined ? !device.online : ageMs(received, seenAt(device)) > darkAfterMs;
  if (isDark) return 'dark';
  return lacksPlaylist(received) ? 'failing' : 'ok';
}

/** Returns the latest error of the TV that the service knows. */
function lastErrorOf({ device }: Received, event: PlaybackError | undefined): LastError | null {
  if (!device) return null;
  const { lastPlaylistAt, lastPlaylistStatus, lastRefusedAt } = device;
  const errors: LastError[] = [];
  if (lastPlaylistAt !== null && lastPlaylistStatus === 404)
    errors.push({ at: lastPlaylistAt, text: 'there was no playlist' });
  if (lastPlaylistAt !== null && lastPlaylistStatus === 500)
    errors.push({ at: lastPlaylistAt, text: 'the service could not provide the playlist' });
  if (lastRefusedAt !== null) errors.push({ at: lastRefusedAt, text: 'its key was refused' });
  if (event) {
    const { type, message } = event.event;
    errors.push({ at: event.receivedAt, text: String(message ?? type) });
  }
  return errors.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
}

/**
 * Returns the newest playback error of each screen. Reads only one page of events. The page has the
 * newest events, so a screen with many errors hides only older errors of other screens.
 */
async function recentPlaybackErrors(call: CommandContext): Promise<Map<string, PlaybackError>> {
  const from = new Date(call.clock.now() - recentMs).toISOString();
  const query = { type: 'playback_error', from, limit: 200 };
  const { items } = await call.read('listEvents', { query });
  return new Map(items.toReversed().map((event) => [event.screenId, event]));
}

/** Sorts the worst screens first: dark ones by how long, then those with an error. */
function worstFirst(one: ScreenStatus, other: ScreenStatus): number {
  return (
    statuses.indexOf(one.status) - statuses.indexOf(other.status) ||
    (one.darkSince ?? '').localeCompare(other.darkSince ?? '') ||
    Number(one.lastError === null) - Number(other.lastError === null) ||
    one.name.localeCompare(other.name)
  );
}

interface StatusOptions {
  venue: string | undefined;
  selector: readonly string[];
  /** Default: a TV is dark when the service calls it offline (docs/protocol.md §2.7). */
  darkAfter: number | undefined;
}

/** Reads the status of all selected screens, the worst first. */
export async function readFleetStatus(
  call: CommandContext,
  { venue, selector, darkAfter }: StatusOptions,
): Promise<ScreenStatus[]> {
  const venueId = venue === undefined ? undefined : (await findVenue(call, venue)).id;
  const [screens, errors] = await Promise.all([
    call.all('listScreenStatus', { query: { venueId, selector: [...selector] } }),
    recentPlaybackErrors(call),
  ]);
  return screens
    .map((received): ScreenStatus => {
      const { screen, device, venueName } = received;
      const status = statusOf(received, darkAfter);
      return {
        name: `${venueName}/${screen.name}`,
        status,
        darkSince: device && status === 'dark' ? seenAt(device) : null,
        lastError: lastErrorOf(received, errors.get(screen.id)),
        ...received,
      };
    })
    .sort(worstFirst);
}

/** Counts the screens of each status: `1,000 screens: 3 dark, 997 ok`. */
export function countStatuses(screens: readonly ScreenStatus[]): string {
  const counts = statuses
    .map((status) => ({
      status,
      count: screens.filter((screen) => screen.status === status).length,
    }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count.toLocaleString('en')} ${status}`);
  const total =
    screens.length === 1 ? '1 screen' : `${screens.length.toLocaleString('en')} screens`;
  return counts.length === 0 ? total : `${total}: ${counts.join(', ')}`;
}

/** Formats the newest playlist version of a screen: `7`, `7 expired`. */
function playlistText({ playlist }: ScreenStatus): string | null {
  if (!playlist) return null;
  const { version, status } = playlist;
  return status === 'active' ? `${version}` : `${version} ${status}`;
}

/** Formats a time by its distance from the time of the service. */
const relative = ({ at }: ScreenStatus, time: string | null | undefined) =>
  time ? relativeTime(Date.parse(time), Date.parse(at)) : null;

export const statusView: View<ScreenStatus> = {
  columns: [
    member('status'),
    { name: 'screen', value: ({ name }) => name },
    {
      name: 'seen',
      value: ({ device }) => device?.lastSeenAt,
      shown: (one) => relative(one, one.device?.lastSeenAt),
    },
    { name: 'playlist', value: playlistText },
    { name: 'given', value: ({ device }) => device?.lastPlaylistVersion },
    {
      name: 'lastError',
      value: ({ lastError }) => lastError?.text,
      shown: (one) => one.lastError && `${one.lastError.text}, ${relative(one, one.lastError.at)}`,
    },
    { name: 'lastErrorAt', value: ({ lastError }) => lastError?.at, wide: true },
    member('darkSince', { wide: true }),
    { name: 'model', value: ({ device }) => device?.deviceInfo.model, wide: true },
    { name: 'deviceId', value: ({ device }) => device?.id, wide: true },
    { name: 'screenId', value: ({ screen }) => screen.id, wide: true },
  ],
  nameOf: ({ name, screen }) => (isPrintable(name) ? name : screen.id),
};
