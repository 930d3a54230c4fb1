import type { Call } from '../call.ts';
import { choosePlace } from './choose-place.ts';
import { requireVisibleCode } from './note-step.ts';
import { readRights } from './pair-rights.ts';
import type { PairRun } from './pair-run.ts';
import { pairScreen } from './pair-screen.ts';
import { pairVenue } from './pair-venue.ts';
import { agreeToReplace, preparePlace } from './prepare-place.ts';
import { pairLink } from './qr-code.ts';
import type { Stage } from './stages.ts';

const usualTimeoutMs = 15 * 60_000;

interface PairOptions {
  all: boolean;
  waitFor: Stage | undefined;
  /** Milliseconds; unless said, 15 minutes where nobody can be asked, and no limit at a terminal. */
  timeout: number | undefined;
}

/** `signage pair`: chooses the place, makes room on it, shows a code and follows the TV. Answers the exit code. */
export async function runPair(call: Call, options: PairOptions): Promise<number> {
  const rights = await readRights(call);
  requireVisibleCode(call);
  const { clock, interrupted, prompter } = call;
  const { url } = await call.profile();
  const timeoutMs = options.timeout ?? (prompter.canAsk ? undefined : usualTimeoutMs);
  const plan = (): PairRun => ({
    ...{ call, waitFor: options.waitFor ?? 'event', timeoutMs, signal: interrupted, changed: () => {} },
    // From here on: the time that questions take does not count.
    endsAtMs: timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs,
    linkOf: (code) => pairLink(url.value, code),
  });
  if (options.all) return pairVenue(plan());
  const chosen = await choosePlace(call, rights);
  const replacement = await agreeToReplace(call, chosen);
  const place = await preparePlace(call, chosen, replacement);
  if (call.common.dryRun) await call.change('createCode', { body: { screenId: place.screen.id } });
  else await pairScreen(plan(), place);
  return 0;
}
