import type { CallAnswer } from '../../../client/call.ts';
import type { Device, Screen } from '../../../client/entities.ts';
import { dayMs, minuteMs } from '../../../domain/clock.ts';
import { hasCode } from '../../../domain/error.ts';
import { asGuid } from '../../../domain/id.ts';
import { layerText } from '../../../domain/layers/layer-text.ts';
import type { CommandClient, ServiceReader } from '../../connection/client.ts';
import { readScreenStatus } from '../../glass/fleet-status.ts';
import { isPrintable } from '../../terminal/escape.ts';
import { countText, relativeTime, shellQuote } from '../../terminal/text.ts';
import { venueTimes } from '../../times/venue-times.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';
import { checkGlass, type ScreenContext, type ScreenStatus } from './glass-checks.ts';
import { checkMedia } from './media-checks.ts';
import { checkPanel, checkSettings } from './panel-checks.ts';
import {
  checkCode,
  checkDevice,
  checkEvents,
  checkFormerDevice,
  checkFormerTvs,
  checkNumbers,
} from './tv-checks.ts';

type Playlist = CallAnswer<'readPlaylist'>;

const endsSoonMs = dayMs;
/** Time within which a TV should fetch a new version. */
const fetchDeadlineMs = 15 * minuteMs;

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
  { quotedName, nowMs, ago }: ScreenContext,
  playlist: Playlist | undefined,
  { layer }: ScreenStatus,
): DoctorFinding {
  const publish = `signage playlist publish ${quotedName} -f FILE`;
  if (playlist === undefined) {
    const what = 'The screen has no playlist';
    if (layer?.entryId == null) return fail('playlist', `${what}.`, publish);
    const above = layerText(layer.name, layer.entryId);
    return warn('playlist', `${what} beneath ${above}: it shows nothing after that.`, publish);
  }
  const { status, version, validUntil, items } = playlist;
  const endMs = validUntil === null ? undefined : validUntil * 1000;
  const end = endMs === undefined ? '' : ago(endMs);
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

/** Finds items whose plays count for no campaign, because their `campaignId` is no UUID. */
function checkCampaigns({ quotedName }: ScreenContext, { items }: Playlist): DoctorFinding[] {
  const lost = items.filter(
    ({ campaignId }) => campaignId != null && asGuid(String(campaignId)) === undefined,
  );
  const names = [...new Set(lost.map(({ campaignId }) => `"${campaignId}"`))];
  if (names.length === 0) return [];
  return [
    warn(
      'campaign',
      `${countText(lost.length, 'item')} ${lost.length === 1 ? 'names' : 'name'} ${names.join(', ')} as campaignId, which is no UUID: their plays count for no campaign. Publish with campaign instead of campaignId.`,
      `signage playlist get ${quotedName} -o yaml`,
    ),
  ];
}

/** Checks whether the TV has fetched what is due: the playlist, or a layer above it. */
function checkFetch(
  { quotedName, nowMs, ago }: ScreenContext,
  device: Device,
  status: ScreenStatus,
): DoctorFinding {
  const due = status.playlist?.version;
  const layer = status.layer;
  const named = layer?.entryId == null ? '' : `, ${layerText(layer.name, layer.entryId)}`;
  const look = `signage device get ${quotedName}`;
  const { lastPlaylistAt: at, lastPlaylistVersion: version, lastPlaylistStatus } = device;
  if (at === null)
    return warn('version', 'The TV has never fetched its playlist. Check that its app runs.', look);
  const when = `asked for its playlist ${ago(at)}`;
  if (lastPlaylistStatus === 500)
    return fail(
      'version',
      `The TV ${when}, but the service could not provide it. See the log of the service.`,
      look,
    );
  if (lastPlaylistStatus === 404)
    return warn(
      'version',
      `The TV ${when}, when the screen had no playlist. It has not asked again since.`,
      look,
    );
  if (version === due)
    return ok('version', `The TV has version ${version}${named}. It last ${when}.`);
  const level = nowMs - Date.parse(at) > fetchDeadlineMs ? fail : warn;
  return level(
    'version',
    `The TV has version ${version ?? 'unknown'} instead of ${due}${named}. It last ${when}.`,
    look,
  );
}

/** Checks why a screen shows nothing, from its pairing code to its events. */
export async function checkScreen(
  reader: ServiceReader & Pick<CommandClient, 'send'>,
  screen: Screen,
  nowMs: number,
): Promise<DoctorFinding[]> {
  const venue = await reader.read('getVenue', { params: { id: screen.venueId } });
  const name = `${venue.name}/${screen.name}`;
  const quotedName = shellQuote(isPrintable(name) ? name : screen.id);
  const times = venueTimes(venue.timezone);
  const context: ScreenContext = {
    reader,
    screen,
    quotedName,
    nowMs,
    ago: (time) => `${times.plain(time)} (${relativeTime(new Date(time).getTime(), nowMs)})`,
  };
  const zone = venue.timezone === null ? '' : ` Times are in ${venue.timezone}.`;
  const { config } = await reader.read('explainScreen', { params: { id: screen.id } });
  const player = config.player?.value;
  const playlist = await findPlaylist(context);
  const status = await readScreenStatus(reader, screen.id);
  const findings = [
    ok('screen', `${name}, ${screen.state}.${zone}`),
    ...checkGlass(context, status),
    ...(await checkSettings(context, player)),
  ];
  const media =
    playlist === undefined
      ? []
      : [...checkCampaigns(context, playlist), ...(await checkMedia(reader, playlist))];
  const formerTvs = (next: string) => checkFormerTvs(context, next);
  if (screen.deviceId === null) {
    const former = [
      await checkFormerDevice(context),
      ...(await formerTvs(`signage pair ${quotedName}`)),
    ];
    return [
      ...findings,
      ...former,
      checkCode(context),
      checkPlaylist(context, playlist, status),
      ...media,
    ];
  }
  const device = await reader.read('getDevice', { params: { id: screen.deviceId } });
  const content = checkPlaylist(context, playlist, status);
  const fetch = status.playlist?.status === 'active' ? [checkFetch(context, device, status)] : [];
  const former = await formerTvs(`signage device list --screen ${quotedName} --state suspended`);
  return [
    ...findings,
    checkDevice(context, device),
    ...checkPanel(context, device, status, player),
    ...former,
    content,
    ...media,
    ...fetch,
    checkEvents(context, device),
    ...checkNumbers(context, device),
  ];
}
