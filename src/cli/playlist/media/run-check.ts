import { type Exchanged, serviceAddress } from '../../../client/transport.ts';
import { SignageError } from '../../../domain/error.ts';
import type { Publication } from '../../../domain/records/playlist.ts';
import { exchangeLine, readCertificates } from '../../api/connect.ts';
import { proxyFor } from '../../api/proxy.ts';
import type { CommandContext } from '../../command/context.ts';
import { failedExitCode } from '../../command/exit-code.ts';
import { hasFilter, type Selected } from '../../options/select-screens.ts';
import { usage } from '../../options/settings.ts';
import { countText } from '../../records/text.ts';
import { progressBar, withProgress } from '../../terminal/progress.ts';
import { type CheckedPlaylist, checkMedia, type MediaReport } from './check-media.ts';
import { findingText, type MediaFinding, mediaFindingView } from './finding.ts';
import { namedScreens, publishedPlaylists, smallestLimit } from './screens.ts';
import { findUnisolatedTvs } from './unisolated-tvs.ts';

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
  const { caFile } = await call.profile();
  const certificates = caFile === undefined ? undefined : await readCertificates(caFile);
  const { clock, interrupted, io } = call;
  const onExchange = call.common.verbose
    ? (exchange: Exchanged) => io.stderr.write(exchangeLine(exchange))
    : undefined;
  const { files, findings } = await withProgress(call, (show) =>
    checkMedia(playlists, {
      clock,
      player,
      timeoutMs,
      certificates,
      proxyFor: (url) => proxyFor(url, io.env),
      interrupted,
      onExchange,
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
  const hasScreens = names.length > 0 || hasFilter(call) || call.options.all;
  if (call.options.all && (names.length > 0 || hasFilter(call)))
    throw usage('--all means all screens: leave out names, --selector and --venue.');
  if (!written && !hasScreens) throw usage('Name a screen, or give a playlist with --file.');
  const none = { screens: [], single: undefined };
  const selection = hasScreens ? await namedScreens(call, names) : none;
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

/**
 * Runs `playlist check`. Returns the exit code: 9 if a media file has an error, else 0.
 *
 * @param written the playlist of `--file`; `undefined`: the current playlists of the screens
 */
export async function runCheck(
  call: CommandContext,
  written: Publication | undefined,
): Promise<number> {
  const { origin, timeout: timeoutMs } = call.options;
  const player = await playerUrl(call, origin);
  const playlists = await chosenPlaylists(call, written);
  const report = await examine(call, playlists, { player, timeoutMs });
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
  const { screens } = await namedScreens(call, names);
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
    { hint: 'To publish anyway, leave out --check.' },
  );
}
