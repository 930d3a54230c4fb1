import type { CallAnswer } from '../../client/call.ts';
import { dayMs, minuteMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { Reader } from '../api/client.ts';
import type { Device, Screen } from '../records/find.ts';
import { shellQuote } from '../records/shell-quote.ts';
import { isPrintable } from '../terminal/escape.ts';
import { ago } from './ago.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkFormerTvs, tvName } from './former-tv-check.ts';

type Playlist = CallAnswer<'readPlaylist'>;

/** A screen that is looked at. */
interface ScreenContext {
  reader: Reader;
  screen: Screen;
  /** What it is called, as one word of a shell. */
  quotedName: string;
  nowMs: number;
}

const endsSoonMs = dayMs;
/** TVs that fetch every few minutes have a new version by then. */
const fetchDeadlineMs = 15 * minuteMs;

const codeTexts: Readonly<Record<string, string>> = {
  expired: 'The last pairing code has expired',
  cancelled: 'The last pairing code was cancelled',
  used: 'The last pairing code was used, and its TV is gone',
};

/** Why no TV can register, or what it waits for. */
function checkCode({ screen, quotedName, nowMs }: ScreenContext): Finding {
  const code = screen.provisioningCode;
  const pair = `signage pair ${quotedName}`;
  if (code === null) return fail('code', 'There is no pairing code.', pair);
  if (code.status === 'pending')
    return warn(
      'code',
      `A pairing code waits for its TV: it expires at ${ago(code.expiresAt, nowMs)}.`,
      pair,
    );
  const when = code.status === 'expired' ? `: ${ago(code.expiresAt, nowMs)}` : '';
  return fail(
    'code',
    `${codeTexts[code.status] ?? `The last pairing code is ${code.status}`}${when}.`,
    pair,
  );
}

/** What became of the TVs that the screen had. */
async function checkFormerDevice({
  reader,
  screen,
  quotedName,
  nowMs,
}: ScreenContext): Promise<Finding> {
  const pair = `signage pair ${quotedName}`;
  const devices = await reader.all('listDevices', { query: { screenId: screen.id } });
  const [last] = devices.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  if (last === undefined) return fail('device', 'No TV has ever registered for it.', pair);
  const reason = last.suspendReason === null ? '' : ` ("${last.suspendReason}")`;
  const when = last.suspendedAt === null ? '' : ` at ${ago(last.suspendedAt, nowMs)}`;
  return fail('device', `Its TV was revoked${when}${reason}, and no other has registered.`, pair);
}

function checkDevice({ quotedName, nowMs }: ScreenContext, device: Device): Finding {
  const what = tvName(device);
  const seen =
    device.lastSeenAt === null ? 'it was never seen' : `last seen ${ago(device.lastSeenAt, nowMs)}`;
  if (device.online) return ok('device', `${what} is online, ${seen}.`);
  const where = device.lastAddress === null ? '' : ` from ${device.lastAddress}`;
  return fail(
    'device',
    `${what} is offline: ${seen}${where}. Look at its power and network.`,
    `signage wait device ${quotedName} --for online`,
  );
}

/** The playlist that TVs are given, if there is one; the newest one there was otherwise. */
async function findPlaylist({ reader, screen }: ScreenContext): Promise<Playlist | undefined> {
  try {
    return await reader.read('readPlaylist', { params: { id: screen.id } });
  } catch (error) {
    if (!hasCode(error, 'playlist_not_found')) throw error;
    const { items } = await reader.read('listPlaylistVersions', {
      params: { id: screen.id },
      query: { limit: 1 },
    });
    return items[0];
  }
}

function checkPlaylist(
  { quotedName, nowMs }: ScreenContext,
  playlist: Playlist | undefined,
): Finding {
  const publish = `signage playlist publish ${quotedName} -f FILE`;
  if (playlist === undefined) return fail('playlist', 'The screen has no playlist.', publish);
  const { status, version, validUntil, items } = playlist;
  const endMs = validUntil === null ? undefined : validUntil * 1000;
  const end = endMs === undefined ? '' : ago(endMs, nowMs);
  if (status === 'withdrawn') {
    return fail(
      'playlist',
      `The playlist was withdrawn: version ${version} was the last.`,
      `signage playlist rollback ${quotedName} ${version}`,
    );
  }
  // The service judges what has ended, for its clock counts and not this machine's.
  if (status === 'expired') {
    return fail('playlist', `The playlist, version ${version}, has ended: ${end}.`, publish);
  }
  if (endMs !== undefined && endMs - nowMs <= endsSoonMs) {
    return warn('playlist', `The playlist, version ${version}, ends soon: ${end}.`, publish);
  }
  const what = `Version ${version}, ${items.length === 1 ? '1 item' : `${items.length} items`}`;
  return ok('playlist', endMs === undefined ? `${what}.` : `${what}, until ${end}.`);
}

/** Whether the TV has what it is to play. */
function checkFetch(
  { quotedName, nowMs }: ScreenContext,
  device: Device,
  playlist: Playlist,
): Finding {
  const look = `signage device get ${quotedName}`;
  const { lastPlaylistAt: at, lastPlaylistVersion: version, lastPlaylistStatus: status } = device;
  if (at === null)
    return warn('version', 'The TV has never asked for its playlist: does its app run?', look);
  const when = `asked ${ago(at, nowMs)}`;
  if (status === 500)
    return fail(
      'version',
      `The TV ${when}, and the playlist could not be fetched: the log of the service says why.`,
      look,
    );
  if (status === 404)
    return warn(
      'version',
      `The TV ${when}, when there was no playlist: it has not asked since.`,
      look,
    );
  if (version === playlist.version) return ok('version', `The TV has version ${version}, ${when}.`);
  const level = nowMs - Date.parse(at) > fetchDeadlineMs ? fail : warn;
  return level(
    'version',
    `The TV has version ${version ?? 'unknown'} and not ${playlist.version}: it last ${when}.`,
    look,
  );
}

function checkEvents(
  { quotedName, nowMs }: ScreenContext,
  { lastEventAt: at, online }: Device,
): Finding {
  const follow = `signage event list --screen ${quotedName} --follow`;
  if (at === null)
    return warn('events', 'The TV has sent no event: nothing tells that it plays.', follow);
  const last = `The last event came ${ago(at, nowMs)}`;
  return online && nowMs - Date.parse(at) > dayMs
    ? warn('events', `${last}: does it still play?`, follow)
    : ok('events', `${last}.`);
}

/** Looks for the reason that a screen is dark, from its code to its events. */
export async function checkScreen(
  reader: Reader,
  screen: Screen,
  nowMs: number,
): Promise<Finding[]> {
  const venue = await reader.read('getVenue', { params: { id: screen.venueId } });
  const name = `${venue.name}/${screen.name}`;
  const quotedName = shellQuote(isPrintable(name) ? name : screen.id);
  const context = { reader, screen, quotedName, nowMs };
  const playlist = await findPlaylist(context);
  const findings = [ok('screen', `${name}, ${screen.state}.`)];
  const formerTvs = (next: string) => checkFormerTvs(reader, screen, nowMs, next);
  if (screen.deviceId === null) {
    const former = [
      await checkFormerDevice(context),
      ...(await formerTvs(`signage pair ${quotedName}`)),
    ];
    return [...findings, ...former, checkCode(context), checkPlaylist(context, playlist)];
  }
  const device = await reader.read('getDevice', { params: { id: screen.deviceId } });
  const content = checkPlaylist(context, playlist);
  const fetch =
    playlist === undefined || content.status === 'fail'
      ? []
      : [checkFetch(context, device, playlist)];
  const former = await formerTvs(`signage device list --screen ${quotedName} --state suspended`);
  return [
    ...findings,
    checkDevice(context, device),
    ...former,
    content,
    ...fetch,
    checkEvents(context, device),
  ];
}
