import { hasCode, SignageError } from '../../domain/error.ts';
import { mayAct } from '../../domain/records/role.ts';
import { playerCodeLink } from '../../player/pairing/player-link.ts';
import { operations } from '../../wire/operations.ts';
import { isLoopback } from '../api/loopback.ts';
import type { CommandContext } from '../command/context.ts';
import type { LiveViewSize } from '../terminal/live-view.ts';
import { checkOptions } from './check-options.ts';
import { loadQrCodes, pairLink } from './draw-code.ts';
import { followTv } from './follow-tv.ts';
import { pairClaims, pairVenue } from './pair-venue.ts';
import {
  describeUnfinished,
  newPairing,
  type Pairing,
  type PairSession,
  signalsOf,
} from './pairing.ts';
import { defaultMilestone, defaultTimeoutMs, type Milestone } from './pairing-options.ts';
import { requireVisibleCode, showUpdates, updatesWithOutput } from './pairing-output.ts';
import { type ChosenPlace, choosePlace } from './place/choose-place.ts';
import { type PairRights, readRights } from './place/pair-rights.ts';
import {
  confirmReplacement,
  preparePlace,
  type Replacement,
  warnOfOtherCodes,
} from './place/prepare-place.ts';
import { renderPaired, renderPairing } from './render-pairing.ts';
import { askClaim, confirmTv } from './shown-claim.ts';

interface PairingOptions {
  waitFor: Milestone | undefined;
  /** The claim that the TV shows, as typed. If it is empty, the command asks for the claim. */
  tv?: string | undefined;
  /** Maximum duration in milliseconds. Default: no limit at a terminal, otherwise 15 minutes. */
  timeout: number | undefined;
}

/** Returns whether the service serves the web player. `--no-player` or a proxy may prevent it. */
async function hasWebPlayer(call: CommandContext): Promise<boolean> {
  const reply = await call.send('GET', '/player').catch(() => undefined);
  return reply?.status === 200;
}

async function makeSession(
  call: CommandContext,
  { role }: PairRights,
  options: PairingOptions,
): Promise<PairSession> {
  // Cancels the code and ends the command in an orderly way when the terminal closes.
  call.heedHangup();
  const { clock, interrupted, prompter } = call;
  const { url } = await call.profile();
  const linkToPlayer = (code: string) => playerCodeLink(url.value, code);
  const { qr, qrWeb } = call.options;
  const timeoutMs = options.timeout ?? (prompter.canAsk ? undefined : defaultTimeoutMs);
  return {
    call,
    role,
    waitFor: options.waitFor ?? defaultMilestone,
    // Without a terminal, exit code 0 promises the milestone, so only the timeout ends the wait.
    endsWithoutPlaylist:
      options.waitFor === undefined &&
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

/** Prepares the chosen screen, then pairs it. */
async function pairAt(
  call: CommandContext,
  rights: PairRights,
  options: PairingOptions,
  chosen: ChosenPlace,
  replacement: Replacement | undefined,
): Promise<void> {
  const claim = options.tv === undefined ? undefined : await claimOf(call, options.tv, chosen);
  if (chosen.screen.id !== undefined) warnOfOtherCodes(call, [chosen.screen]);
  const place = await preparePlace(call, chosen, replacement);
  const body = { screenId: place.screen.id };
  if (!call.common.dryRun)
    await pairScreen(await makeSession(call, rights, options), newPairing(place, claim));
  else if (claim === undefined) await call.change('createCode', { body });
  else await call.change('offerClaim', { params: { claim }, body });
}

/** Runs `signage pair`. Returns the exit code. */
export async function runPair(
  call: CommandContext,
  options: PairingOptions & { all: boolean; claimsFile: string | undefined },
): Promise<number> {
  checkOptions(call);
  const rights = await readRights(call);
  requireVisibleCode(call);
  if (options.claimsFile !== undefined) return pairClaims(await makeSession(call, rights, options));
  if (options.all) {
    // By turns, the command asks for the next claim as soon as a TV has registered.
    const byTurns = options.tv !== undefined && { waitFor: options.waitFor ?? 'registered' };
    return pairVenue(await makeSession(call, rights, { ...options, ...byTurns }));
  }
  const chosen = await choosePlace(call, rights);
  await pairAt(call, rights, options, chosen, await confirmReplacement(call, chosen));
  return 0;
}
