import type { CommandContext } from '../command/context.ts';
import { pairScreen } from './pair-screen.ts';
import type { PairSession } from './pair-session.ts';
import { pairVenue } from './pair-venue.ts';
import type { Milestone } from './pairing-options.ts';
import { type ChosenPlace, choosePlace } from './place/choose-place.ts';
import { readRights } from './place/pair-rights.ts';
import { confirmReplacement, preparePlace, type Replacement } from './place/prepare-place.ts';
import { pairLink } from './qr-code.ts';
import { requireVisibleCode } from './show-updates.ts';

const defaultTimeoutMs = 15 * 60_000;

/** Parsed options of the pairing commands. */
export interface PairingOptions {
  waitFor: Milestone | undefined;
  /** Milliseconds. Default: no limit at a terminal, otherwise 15 minutes. */
  timeout: number | undefined;
}

async function makeSession(call: CommandContext, options: PairingOptions): Promise<PairSession> {
  // Cancels the code when the terminal that shows it closes.
  call.heedHangup();
  const { clock, interrupted, prompter } = call;
  const { url } = await call.profile();
  const timeoutMs = options.timeout ?? (prompter.canAsk ? undefined : defaultTimeoutMs);
  return {
    call,
    waitFor: options.waitFor ?? 'event',
    timeoutMs,
    signal: interrupted,
    changed: () => {},
    // Starts the timeout only now: the time for questions does not count.
    endsAtMs: timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs,
    linkOf: (code) => pairLink(url.value, code),
  };
}

/** Prepares the chosen screen, then pairs it. */
export async function pairAt(
  call: CommandContext,
  options: PairingOptions,
  chosen: ChosenPlace,
  replacement: Replacement | undefined,
): Promise<void> {
  const place = await preparePlace(call, chosen, replacement);
  if (call.common.dryRun) await call.change('createCode', { body: { screenId: place.screen.id } });
  else await pairScreen(await makeSession(call, options), place);
}

/** Runs `signage pair`. Returns the exit code. */
export async function runPair(
  call: CommandContext,
  options: PairingOptions & { all: boolean },
): Promise<number> {
  const rights = await readRights(call);
  requireVisibleCode(call);
  if (options.all) return pairVenue(await makeSession(call, options));
  const chosen = await choosePlace(call, rights);
  await pairAt(call, options, chosen, await confirmReplacement(call, chosen));
  return 0;
}
