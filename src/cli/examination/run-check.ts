import { serviceAddress } from '../../client/transport.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { smallest } from '../../domain/numbers/extremes.ts';
import type { Publication } from '../../domain/playlists/playlist.ts';
import { type ConfigBody, effectiveConfig } from '../../domain/records/config.ts';
import type { ConfigLevel } from '../../domain/records/rows.ts';
import { usage } from '../input/settings.ts';
import type { CommandContext } from '../program/context.ts';
import { failedExitCode } from '../program/exit-code.ts';
import { getConfig } from '../records/config-level.ts';
import { orUndefined } from '../records/find.ts';
import { mapBounded, mapRecords } from '../records/for-each-record.ts';
import {
  hasFilter,
  type Selected,
  type Selection,
  selectScreens,
} from '../records/select-screens.ts';
import { memoize } from '../terminal/memoize.ts';
import { progressBar, withProgress } from '../terminal/progress.ts';
import { countText } from '../terminal/text.ts';
import type { CheckedPlaylist } from './check-media.ts';
import { checkPlaylistMedia, type MediaReport } from './check-media.ts';
import {
  findingText,
  type MediaFinding,
  mediaFindingView,
  warning,
  withFileNames,
} from './finding.ts';
import type { LocalMedia } from './local-media.ts';
import { sendOptionsOf } from './send-options.ts';

const unlimited: ConfigBody = { cachePolicy: { maxSizeGB: Number.POSITIVE_INFINITY } };

/** Returns a function that reads the `cachePolicy.maxSizeGB` of a screen, in gigabytes. */
function sizeLimits(call: CommandContext): (screen: Selected) => Promise<number> {
  const configs = new Map<string, () => Promise<ConfigBody | undefined>>();
  const read = async (level: ConfigLevel, id: string) => {
    try {
      return (await getConfig(call, { level, id })) as ConfigBody;
    } catch (error) {
      if (hasCode(error, 'config_not_found')) return undefined;
      // A token that is bound to venues does not see the config of its tenant.
      if (hasCode(error, 'tenant_not_found')) return unlimited;
      throw error;
    }
  };
  const shared = (level: ConfigLevel, id: string) => {
    const config = configs.get(id) ?? memoize(() => read(level, id));
    configs.set(id, config);
    return config();
  };
  return async ({ screen: { id, venueId, tenantId } }) => {
    const levels = [
      await shared('tenant', tenantId),
      await shared('venue', venueId),
      await read('screen', id),
    ];
    return effectiveConfig(levels).cachePolicy.maxSizeGB;
  };
}

/**
 * Reads the current playlist of each screen. Leaves screens without a playlist out. Throws
 * `playlist_not_found` if the command names only one screen, and it has none.
 */
async function publishedPlaylists(
  call: CommandContext,
  { screens, single }: Selection,
): Promise<CheckedPlaylist[]> {
  const limitOf = sizeLimits(call);
  const playlists = await mapRecords(call, 'Reading', screens, async (one) => {
    const reading = call.read('readPlaylist', { params: { id: one.id } });
    const playlist = await (single ? reading : orUndefined(reading, 'playlist_not_found'));
    if (!playlist) return undefined;
    const { items, validUntil } = playlist;
    return { screen: one.name, shownOn: [one], items, validUntil, maxSizeGB: await limitOf(one) };
  });
  const found = playlists.filter((playlist) => playlist !== undefined);
  const missing = screens.length - found.length;
  if (missing > 0) call.note(`${countText(missing, 'screen')} without a playlist left out.`);
  return found;
}

/** Returns the smallest limit of these screens, in gigabytes. `Infinity` without screens. */
async function smallestLimit(call: CommandContext, screens: readonly Selected[]): Promise<number> {
  const limitOf = sizeLimits(call);
  return smallest(await mapBounded(screens, limitOf));
}

/** Returns whether a TV has reported at its last start that its browser isolates no pages. */
async function reportsNoIsolation(call: CommandContext, deviceId: string): Promise<boolean> {
  const { report } = await call.read('getDevice', { params: { id: deviceId } });
  return report?.isolatesPages === false;
}

/** Finds the TVs of screens that a web page may freeze, in the order of the screens. */
async function findUnisolatedTvs(
  call: CommandContext,
  screens: readonly Selected[],
): Promise<MediaFinding[]> {
  const isolation = warning('isolation', {
    detail: 'The browser of the TV does not isolate web pages.',
    effect: 'A loop in a page freezes the TV until its player is restarted.',
    advice: 'Show only pages that you trust, or use a newer browser. See docs/web-player.md.',
  });
  const found = await mapBounded(screens, async ({ name, screen }) =>
    screen.deviceId !== null && (await reportsNoIsolation(call, screen.deviceId))
      ? { ...isolation, screen: name, item: null, uses: 1, url: null }
      : undefined,
  );
  return found.filter((finding) => finding !== undefined);
}

const publishTimeoutMs = 20_000;

/** Returns the address at which TVs reach the service. */
async function playerUrl(call: CommandContext, origin: string | undefined): Promise<URL> {
  const { url } = await call.profile();
  return new URL(serviceAddress(origin ?? url.value));
}

async function examine(
  call: CommandContext,
  playlists: readonly CheckedPlaylist[],
  { player, timeoutMs }: { player: URL; timeoutMs: number },
): Promise<MediaReport> {
  const sending = await sendOptionsOf(call, timeoutMs);
  const { files, findings } = await withProgress(call, (show) =>
    checkPlaylistMedia(playlists, {
      ...sending,
      player,
      examine: call.examine,
      onProgress: (done, total) => show(`Checking ${progressBar(done, total)}`),
    }),
  );
  const withPages = playlists.filter(({ items }) =>
    items.some(({ creativeType }) => creativeType === 'html'),
  );
  const screens = withPages.flatMap(({ shownOn }) => shownOn);
  return { files, findings: [...findings, ...(await findUnisolatedTvs(call, screens))] };
}

const countOf = (findings: readonly MediaFinding[], wanted: MediaFinding['level']) =>
  findings.filter(({ level }) => level === wanted).length;

/** Prints the findings and their number. Returns the number of errors. */
async function printReport(
  call: CommandContext,
  { findings, files }: MediaReport,
  player: URL,
): Promise<number> {
  await call.results.list([findings], mediaFindingView);
  const errors = countOf(findings, 'error');
  const problems = `${countText(errors, 'error')}, ${countText(findings.length - errors, 'warning')}`;
  call.note(
    `${countText(files, 'media file')} checked for a player of ${player.origin}: ${findings.length === 0 ? 'no problem' : problems}.`,
  );
  return errors;
}

/** Returns the playlists that the command line names. */
async function chosenPlaylists(
  call: CommandContext,
  written: Publication | undefined,
): Promise<CheckedPlaylist[]> {
  const names: readonly string[] = call.args.screens;
  const hasScreens = names.length > 0 || hasFilter(call);
  if (!written && !hasScreens) throw usage('Name a screen, or give a playlist with --file.');
  const none = { screens: [], single: undefined };
  const selection = hasScreens ? await selectScreens(call, names) : none;
  if (!written) return publishedPlaylists(call, selection);
  return [await fileAsPlaylist(call, written, selection.screens)];
}

async function fileAsPlaylist(
  call: CommandContext,
  { items, validUntil = null }: Publication,
  shownOn: readonly Selected[],
): Promise<CheckedPlaylist> {
  return {
    screen: null,
    shownOn,
    items,
    validUntil,
    maxSizeGB: await smallestLimit(call, shownOn),
  };
}

/** A playlist from a file, without the items that are files of this computer. */
export interface CheckedFile {
  publication: Publication;
  /** The files, with the position of the first item that names each, from 1. */
  local: readonly (LocalMedia & { item: number })[];
}

const findingsOf = ({ path, item, findings }: CheckedFile['local'][number]): MediaFinding[] =>
  findings.map((finding) => ({
    ...finding,
    advice: withFileNames(finding.advice, path),
    ...{ screen: null, item, uses: 1, url: path },
  }));

/**
 * Runs `playlist check`. Returns the exit code: 9 if a media file has an error, else 0.
 *
 * @param written the playlist of `--file`; `undefined`: the current playlists of the screens
 */
export async function runCheck(
  call: CommandContext,
  written: CheckedFile | undefined,
): Promise<number> {
  const { origin, timeout: timeoutMs } = call.options;
  const player = await playerUrl(call, origin);
  const { publication, local = [] } = written ?? {};
  const playlists = await chosenPlaylists(call, publication);
  const { files, findings } = await examine(call, playlists, { player, timeoutMs });
  const report = {
    files: files + local.length,
    findings: [...local.flatMap(findingsOf), ...findings],
  };
  return (await printReport(call, report, player)) > 0 ? failedExitCode : 0;
}

/**
 * Checks the media of a playlist before it is published. Prints warnings as notes if there are no
 * errors. Throws `partly_failed` if there are errors, after it has printed all findings as the
 * result.
 */
export async function requireGoodMedia(
  call: CommandContext,
  names: readonly string[],
  written: Publication,
): Promise<void> {
  const player = await playerUrl(call, call.options.origin);
  const { screens } = await selectScreens(call, names);
  const playlist = await fileAsPlaylist(call, written, screens);
  const report = await examine(call, [playlist], { player, timeoutMs: publishTimeoutMs });
  if (countOf(report.findings, 'error') === 0) {
    for (const finding of report.findings) call.note(`Warning: ${findingText(finding)}`);
    return;
  }
  const errors = await printReport(call, report, player);
  throw new SignageError(
    'partly_failed',
    `Nothing was published, because the check of the media found ${countText(errors, 'error')}.`,
    { hint: 'To publish anyway, give --force instead of --check.' },
  );
}
