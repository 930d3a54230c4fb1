import type { CallAnswer } from '../../client/call.ts';
import { dayMs, minuteMs } from '../../domain/clock.ts';
import { badConditions, type Condition } from '../../domain/conditions/condition.ts';
import { hasCode } from '../../domain/error.ts';
import type { ApiClient, Reader } from '../api/client.ts';
import type { Device, Screen } from '../records/find.ts';
import { ago, countText, shellQuote } from '../records/text.ts';
import { readScreenStatus } from '../status/fleet-status.ts';
import { isPrintable } from '../terminal/escape.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';
import { checkMedia } from './media-checks.ts';

type Playlist = CallAnswer<'readPlaylist'>;

interface ScreenContext {
  reader: Reader;
  screen: Screen;
  /** Name or id of the screen, quoted as one word for a shell. */
  quotedName: string;
  nowMs: number;
}

const endsSoonMs = dayMs;
/** Time within which a TV should fetch a new version. */
const fetchDeadlineMs = 15 * minuteMs;

/** A revoked TV that has not called for this long is assumed to be switched off or removed. */
const recentMs = 7 * dayMs;

const codeTexts: Readonly<Record<string, string>> = {
  expired: 'The last pairing code has expired',
  cancelled: 'The last pairing code was cancelled',
  used: 'The last pairing code was used, but its TV was removed',
};

/** Returns the name of a TV for people. */
function tvName({ id, deviceInfo }: Device): string {
  const { manufacturer, model, deviceName } = deviceInfo;
  return (
    deviceName ??
    ([manufacturer, model].filter((text) => text !== null && text !== undefined).join(' ') || id)
  );
}

/** Finds revoked TVs of a screen that still call the service. `next` is the command to suggest. */
async function checkFormerTvs(
  reader: Reader,
  { id: screenId }: Screen,
  nowMs: number,
  next: string,
): Promise<DoctorFinding[]> {
  const devices = await reader.all('listDevices', { query: { screenId, state: 'suspended' } });
  return devices.flatMap((device) => {
    const { lastRefusedAt, lastAddress } = device;
    if (lastRefusedAt === null || nowMs - Date.parse(lastRefusedAt) > recentMs) return [];
    const where = lastAddress === null ? '' : ` Its address was ${lastAddress}.`;
    const what = `The revoked TV ${tvName(device)} (${device.id}) still calls the service with its old key, last at ${ago(lastRefusedAt, nowMs)}.`;
    return [warn('former', `${what}${where} Switch it off, or pair it again.`, next)];
  });
}

/** Checks the pairing code of a screen without a TV. */
function checkCode({ screen, quotedName, nowMs }: ScreenContext): DoctorFinding {
  const code = screen.provisioningCode;
  const pair = `signage pair ${quotedName}`;
  if (code === null) return fail('code', 'There is no pairing code.', pair);
  if (code.status === 'pending')
    return warn(
      'code',
      `A pairing code waits for a TV. It expires at ${ago(code.expiresAt, nowMs)}.`,
      pair,
    );
  const when = code.status === 'expired' ? `: ${ago(code.expiresAt, nowMs)}` : '';
  return fail(
    'code',
    `${codeTexts[code.status] ?? `The last pairing code is ${code.status}`}${when}.`,
    pair,
  );
}

/** Reports the last TV of a screen that has no current TV. */
async function checkFormerDevice({
  reader,
  screen,
  quotedName,
  nowMs,
}: ScreenContext): Promise<DoctorFinding> {
  const pair = `signage pair ${quotedName}`;
  const devices = await reader.all('listDevices', { query: { screenId: screen.id } });
  const [last] = devices.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  if (last === undefined) return fail('device', 'No TV has ever registered for this screen.', pair);
  const reason = last.suspendReason === null ? '' : ` ("${last.suspendReason}")`;
  const when = last.suspendedAt === null ? '' : ` at ${ago(last.suspendedAt, nowMs)}`;
  return fail('device', `Its TV was revoked${when}${reason}. No other TV has registered.`, pair);
}

function checkDevice({ quotedName, nowMs }: ScreenContext, device: Device): DoctorFinding {
  const what = tvName(device);
  const seen =
    device.lastSeenAt === null ? 'it was never seen' : `last seen ${ago(device.lastSeenAt, nowMs)}`;
  if (device.online) return ok('device', `${what} is online, ${seen}.`);
  const where = device.lastAddress === null ? '' : ` from ${device.lastAddress}`;
  return fail(
    'device',
    `${what} is offline: ${seen}${where}. Check its power and network.`,
    `signage wait device ${quotedName}`,
  );
}

/** Checks the sequence numbers of the TV's events (docs/protocol.md §5.3). */
function checkNumbers({ quotedName }: ScreenContext, device: Device): DoctorFinding[] {
  const { lastSeq, missingEvents = 0, conflictingEvents = 0 } = device;
  const look = `signage device get ${quotedName} -o wide`;
  if (conflictingEvents > 0) {
    const what = `${countText(conflictingEvents, 'event')} had the number of another event. Two TVs may use one key, such as a copy of a disk image, or the TV has lost its count.`;
    return [warn('numbers', `${what} Revoke it and pair each TV by itself.`, look)];
  }
  if (missingEvents > 0) {
    const what = `${countText(missingEvents, 'event')} of ${lastSeq} never arrived.`;
    return [warn('numbers', `${what} The TV has given them up, or has not sent them yet.`, look)];
  }
  return [];
}

/** Returns the current playlist. If it was withdrawn, returns the newest version in the history. */
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
): DoctorFinding {
  const publish = `signage playlist publish ${quotedName} -f FILE`;
  if (playlist === undefined) return fail('playlist', 'The screen has no playlist.', publish);
  const { status, version, validUntil, items } = playlist;
  const endMs = validUntil === null ? undefined : validUntil * 1000;
  const end = endMs === undefined ? '' : ago(endMs, nowMs);
  if (status === 'withdrawn') {
    return fail(
      'playlist',
      `The playlist was withdrawn. The last version was ${version}.`,
      `signage playlist rollback ${quotedName} ${version}`,
    );
  }
  // The service sets `status` by its own clock. The clock of this machine may be wrong.
  if (status === 'expired') {
    return fail('playlist', `The playlist, version ${version}, has expired: ${end}.`, publish);
  }
  if (endMs !== undefined && endMs - nowMs <= endsSoonMs) {
    return warn('playlist', `The playlist, version ${version}, expires soon: ${end}.`, publish);
  }
  const what = `Version ${version}, ${items.length === 1 ? '1 item' : `${items.length} items`}`;
  return ok('playlist', endMs === undefined ? `${what}.` : `${what}, until ${end}.`);
}

/** Checks whether the TV has fetched the current playlist. */
function checkFetch(
  { quotedName, nowMs }: ScreenContext,
  device: Device,
  playlist: Playlist,
): DoctorFinding {
  const look = `signage device get ${quotedName}`;
  const { lastPlaylistAt: at, lastPlaylistVersion: version, lastPlaylistStatus: status } = device;
  if (at === null)
    return warn('version', 'The TV has never fetched its playlist. Check that its app runs.', look);
  const when = `asked for its playlist ${ago(at, nowMs)}`;
  if (status === 500)
    return fail(
      'version',
      `The TV ${when}, but the service could not provide it. See the log of the service.`,
      look,
    );
  if (status === 404)
    return warn(
      'version',
      `The TV ${when}, when the screen had no playlist. It has not asked again since.`,
      look,
    );
  if (version === playlist.version)
    return ok('version', `The TV has version ${version}. It last ${when}.`);
  const level = nowMs - Date.parse(at) > fetchDeadlineMs ? fail : warn;
  return level(
    'version',
    `The TV has version ${version ?? 'unknown'} instead of ${playlist.version}. It last ${when}.`,
    look,
  );
}

function checkEvents(
  { quotedName, nowMs }: ScreenContext,
  { lastEventAt: at, online }: Device,
): DoctorFinding {
  const follow = `signage event list --screen ${quotedName} --follow`;
  if (at === null)
    return warn('events', 'The TV has sent no event, so nothing shows that it plays.', follow);
  const last = `The last event arrived ${ago(at, nowMs)}`;
  return online && nowMs - Date.parse(at) > dayMs
    ? warn('events', `${last}. Check that it still plays.`, follow)
    : ok('events', `${last}.`);
}

const glassLevels: Partial<Record<Condition, typeof ok>> = {
  ...Object.fromEntries(badConditions.map((condition) => [condition, fail])),
  playing: ok,
};

/** Reports the judgement of the service, and its causes. */
async function checkGlass({ reader, screen, quotedName, nowMs }: ScreenContext) {
  const status = await readScreenStatus(reader, screen.id);
  // The checks of the code and of former TVs say more.
  if (status.condition === 'unpaired') return [];
  const { condition, since, reason, playing, errors, clock } = status;
  const level = glassLevels[condition] ?? warn;
  const look = `signage event list --screen ${quotedName}`;
  const what =
    reason?.text ?? `It plays ${playing?.name ?? playing?.creativeId ?? 'its playlist'}.`;
  const when = since === null ? '' : `, since ${ago(since, nowMs)}`;
  return [
    level('glass', `The screen is ${condition}${when}. ${what}`, look),
    ...errors.map(({ name, creativeId, host, reason: code, since: first }) =>
      warn(
        'item',
        `${name ?? creativeId ?? 'An item'}${host === null ? '' : ` from ${host}`} fails with ${code}, since ${ago(first, nowMs)}.`,
        `signage playlist check ${quotedName}`,
      ),
    ),
    ...(clock
      ? [
          warn(
            'clock',
            `The clock of the TV is ${Math.abs(clock.offsetSeconds)} seconds ${clock.offsetSeconds > 0 ? 'fast' : 'slow'}. Set it, or switch network time on.`,
            look,
          ),
        ]
      : []),
  ];
}

/** Checks why a screen shows nothing, from its pairing code to its events. */
export async function checkScreen(
  reader: Reader & Pick<ApiClient, 'send'>,
  screen: Screen,
  nowMs: number,
): Promise<DoctorFinding[]> {
  const venue = await reader.read('getVenue', { params: { id: screen.venueId } });
  const name = `${venue.name}/${screen.name}`;
  const quotedName = shellQuote(isPrintable(name) ? name : screen.id);
  const context = { reader, screen, quotedName, nowMs };
  const playlist = await findPlaylist(context);
  const findings = [ok('screen', `${name}, ${screen.state}.`), ...(await checkGlass(context))];
  const media = playlist === undefined ? [] : await checkMedia(reader, playlist);
  const formerTvs = (next: string) => checkFormerTvs(reader, screen, nowMs, next);
  if (screen.deviceId === null) {
    const former = [
      await checkFormerDevice(context),
      ...(await formerTvs(`signage pair ${quotedName}`)),
    ];
    return [...findings, ...former, checkCode(context), checkPlaylist(context, playlist), ...media];
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
    ...media,
    ...fetch,
    checkEvents(context, device),
    ...checkNumbers(context, device),
  ];
}
