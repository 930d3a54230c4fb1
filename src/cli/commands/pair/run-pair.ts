import type { Screen, Venue } from '../../../client/entities.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { mayAct } from '../../../domain/records/role.ts';
import { playerCodeLink } from '../../../player/pairing/player-link.ts';
import { operations } from '../../../wire/operations/operations.ts';
import { isLoopback } from '../../connection/loopback.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { findVenue } from '../../records/find.ts';
import { typedName } from '../../records/names.ts';
import { loadQrCodes, pairLink } from '../../terminal/draw-code.ts';
import type { LiveViewSize } from '../../terminal/live-view.ts';
import { countText, shellQuote } from '../../terminal/text.ts';
import { askVenue, type ChosenPlace, choosePlace } from './choose-place.ts';
import { followTv } from './follow-tv.ts';
import { pairByTurns } from './pair-by-turns.ts';
import { pairMany } from './pair-many.ts';
import { type PairRights, readRights } from './pair-rights.ts';
import {
  describeUnfinished,
  newPairing,
  type Pairing,
  type PairSession,
  restartTimeout,
  signalsOf,
} from './pairing.ts';
import { defaultMilestone, defaultTimeoutMs, type Milestone } from './pairing-options.ts';
import { requireVisibleCode, showUpdates, updatesWithOutput } from './pairing-output.ts';
import { confirmReplacement, preparePlace, warnOfOtherCodes } from './prepare-place.ts';
import { renderPaired, renderPairing } from './render-pairing.ts';
import { askClaim, confirmTv } from './shown-claim.ts';

/**
 * Rejects options that are only valid for one screen. `flag` is the option that selects several
 * screens of a venue.
 */
function refuseScreenOptions({ args, options }: CommandContext, flag: string): void {
  const meant = args.screen;
  if (meant === undefined && !options.create && !options.replace && !options.qr && !options.qrWeb)
    return;
  throw usage(
    `${flag} pairs screens of a venue. Give it with --venue, without a screen, --create, --replace, --qr or --qr-web.`,
    meant && `Did you mean signage pair --venue ${shellQuote(meant.replace(/\/.*/s, ''))} ${flag}?`,
  );
}

async function namedVenue(call: CommandContext): Promise<Venue> {
  const { venue } = call.options;
  return venue === undefined
    ? ((await askVenue(call, undefined)) as Venue)
    : findVenue(call, venue);
}

/** Returns the command that pairs the remaining screens of the venue. */
const commandFor = (venue: Venue, flags: string) =>
  `signage pair --venue ${shellQuote(typedName(venue))} ${flags}`;

async function freeScreens(call: CommandContext, venue: Venue): Promise<readonly Screen[]> {
  const screens = await call.all('listScreens', {
    query: { venueId: venue.id, state: 'provisioning', selector: [...call.options.selector] },
  });
  if (screens.length === 0) {
    const matching = call.options.selector.length > 0 ? ' that matches --selector' : '';
    call.note(`Nothing to pair: no screen of "${venue.name}"${matching} is waiting for a TV.`);
  }
  warnOfOtherCodes(call, screens);
  return screens;
}

/**
 * Pairs all screens of a venue that have no TV: concurrently, or by turns with `--tv`. Returns the
 * exit code.
 */
async function pairVenue(session: PairSession): Promise<number> {
  const { call } = session;
  refuseScreenOptions(call, '--all');
  if (call.options.tv)
    throw usage('--all asks for the claim of each TV: give --tv without a claim.');
  const venue = await namedVenue(call);
  const screens = await freeScreens(call, venue);
  if (call.options.tv !== undefined)
    return pairByTurns(session, venue, screens, commandFor(venue, '--all --tv'));
  if (call.common.dryRun) {
    for (const { id } of screens) await call.change('createCode', { body: { screenId: id } });
    return 0;
  }
  const pairings = screens.map((screen) => newPairing({ venue, screen, changes: [] }));
  return pairMany(restartTimeout(session), venue.name, pairings, commandFor(venue, '--all'));
}

/** Pairs the TVs whose claims are in the file of `--claims-file`. Returns the exit code. */
async function pairClaims(session: PairSession): Promise<number> {
  const { call } = session;
  refuseScreenOptions(call, '--claims-file');
  const { readClaimsFile, confirmTvs } = await import('./claims-file.ts');
  const { venue: named } = call.options;
  const venue = named === undefined ? undefined : await findVenue(call, named);
  const pairings = await readClaimsFile(call, venue);
  const venues = new Set(pairings.map(({ place }) => place.venue.id)).size;
  const title = venue?.name ?? countText(venues, 'venue');
  await confirmTvs(call, venue ? JSON.stringify(title) : title, pairings);
  if (call.common.dryRun) {
    for (const { claim = '', place } of pairings)
      await call.change('offerClaim', { params: { claim }, body: { screenId: place.screen.id } });
    return 0;
  }
  const again = venue
    ? commandFor(venue, '--all --tv')
    : 'signage pair --claims-file with the claims that these TVs show now';
  return pairMany(restartTimeout(session), title, pairings, again);
}

/** Throws `usage` for options that exclude each other. */
function checkOptions({ options, common }: CommandContext): void {
  if (options.qr && options.qrWeb)
    throw usage('--qr and --qr-web show different QR codes. Give one.');
  const given = {
    '--all': options.all,
    '--claims-file': options.claimsFile !== undefined,
    '--tv': options.tv !== undefined,
    '--qr': options.qr,
    '--qr-web': options.qrWeb,
    '--codes-file': options.codesFile !== undefined,
    '--dry-run': common.dryRun,
  };
  const refuse = (reason: string, flags: readonly (keyof typeof given)[]) => {
    const other = flags.find((flag) => given[flag]);
    if (other) throw usage(`${reason}, so ${other} does not work with it.`);
  };
  if (options.playerLinkFile !== undefined)
    refuse('--player-link-file registers in the place of a TV', [
      '--tv',
      '--claims-file',
      '--all',
      '--qr',
      '--qr-web',
      '--codes-file',
      '--dry-run',
    ]);
  if (given['--claims-file'])
    refuse('--claims-file names the screens and their TVs', ['--all', '--tv']);
  const flag = given['--tv'] ? '--tv' : '--claims-file';
  if (given[flag])
    refuse(`The TV of ${flag} gets its code from the service`, [
      '--qr',
      '--qr-web',
      '--codes-file',
    ]);
  if (options.selector?.length > 0 && !options.all)
    throw usage('--selector selects screens of a venue: give --all, too.');
}

/** Returns whether the service serves the web player. `--no-player` or a proxy may prevent it. */
async function hasWebPlayer(call: CommandContext): Promise<boolean> {
  const reply = await call.send('GET', '/player').catch(() => undefined);
  return reply?.status === 200;
}

async function makeSession(
  call: CommandContext,
  { role }: PairRights,
  milestone: Milestone = defaultMilestone,
): Promise<PairSession> {
  // Cancels the code and ends the command in an orderly way when the terminal closes.
  call.heedHangup();
  const { clock, interrupted, prompter } = call;
  const { url } = await call.profile();
  const linkToPlayer = (code: string) => playerCodeLink(url.value, code);
  const { qr, qrWeb, waitFor, timeout } = call.options;
  // There is no limit at a terminal.
  const timeoutMs = timeout ?? (prompter.canAsk ? undefined : defaultTimeoutMs);
  return {
    call,
    role,
    waitFor: waitFor ?? milestone,
    // Without a terminal, exit code 0 promises the milestone, so only the timeout ends the wait.
    endsWithoutPlaylist:
      waitFor === undefined &&
      timeoutMs === undefined &&
      !mayAct(role, operations.publishPlaylist.access),
    timeoutMs,
    ...signalsOf(call, interrupted),
    changed: () => {},
    // The timeout starts after the questions, so their duration does not count.
    endsAtMs: timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs,
    linkOf: qrWeb ? linkToPlayer : (code) => pairLink(url.value, code),
    playerLinkOf: qr && (await hasWebPlayer(call)) ? linkToPlayer : undefined,
  };
}

/** Warns if the QR code has a loopback address, because a phone cannot reach it. */
async function noteUnreachable(call: CommandContext): Promise<void> {
  const { url } = await call.profile();
  if (isLoopback(new URL(url.value).hostname))
    call.note(
      `The QR code contains ${url.value}, which only this machine can reach. Give another address with --url.`,
    );
}

/**
 * Pairs one screen. If the pairing ends early, prints the changes already made and the codes that
 * are still valid.
 */
async function pairScreen(session: PairSession, pairing: Pairing): Promise<void> {
  const { call, waitFor } = session;
  try {
    const { qr, qrWeb } = call.options;
    const drawQr = qr || qrWeb ? await loadQrCodes() : undefined;
    if (drawQr) await noteUnreachable(call);
    const display = {
      render: (size: LiveViewSize) => renderPairing(pairing, session, drawQr, size),
      last: () =>
        pairing.state === 'done'
          ? renderPaired(pairing, pairing.followUp === undefined ? waitFor : 'registered')
          : [],
      problemText: ({ problem }: Pairing) => problem,
      drawQr,
    };
    const follow = (shown: PairSession) => followTv(shown, pairing);
    await showUpdates(call, 'record', updatesWithOutput(session, display, follow));
    if (pairing.followUp !== undefined) call.note(pairing.followUp);
  } catch (error) {
    if (!hasCode(error, 'wait_timed_out')) {
      const unfinished = describeUnfinished(pairing);
      if (unfinished !== '') call.note(unfinished);
      throw error;
    }
    throw new SignageError(error.code, error.message, { hint: describeUnfinished(pairing) });
  }
}

/** Confirms the claim given with `--tv`. If the claim is empty, asks for it. */
async function claimOf(
  call: CommandContext,
  typed: string,
  place: ChosenPlace,
): Promise<string | undefined> {
  if (typed !== '') return confirmTv(call, typed, place);
  const message = 'Claim that the TV shows:';
  return askClaim(call, place, { message, flag: '--tv CLAIM', canSkip: false });
}

/** Chooses and prepares one screen, then pairs it. */
async function pairOne(call: CommandContext, rights: PairRights): Promise<void> {
  const chosen = await choosePlace(call, rights);
  const replacement = await confirmReplacement(call, chosen);
  const { tv } = call.options;
  const claim = tv === undefined ? undefined : await claimOf(call, tv, chosen);
  if (chosen.screen.id !== undefined) warnOfOtherCodes(call, [chosen.screen]);
  const place = await preparePlace(call, chosen, replacement);
  const body = { screenId: place.screen.id };
  if (!call.common.dryRun)
    await pairScreen(await makeSession(call, rights), newPairing(place, claim));
  else if (claim === undefined) await call.change('createCode', { body });
  else await call.change('offerClaim', { params: { claim }, body });
}

/** Runs `signage pair`. Returns the exit code. */
export async function runPair(call: CommandContext): Promise<number> {
  checkOptions(call);
  const rights = await readRights(call);
  requireVisibleCode(call);
  const { claimsFile, all, tv } = call.options;
  if (claimsFile !== undefined) return pairClaims(await makeSession(call, rights));
  // By turns, the command asks for the next claim as soon as a TV has registered.
  const milestone = tv === undefined ? undefined : 'registered';
  if (all) return pairVenue(await makeSession(call, rights, milestone));
  await pairOne(call, rights);
  return 0;
}
