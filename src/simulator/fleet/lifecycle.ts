import { SignageError } from '../../domain/error.ts';
import type { PlayerState } from '../player/state.ts';
import { forEachBounded } from '../time/bounded.ts';
import { listedCodes, noCodes, type PairingCodeProvider, ScreenCodes } from './code-provider.ts';
import type { FleetDependencies } from './dependencies.ts';
import type { FleetOptions } from './options.ts';
import { type FleetPlan, sharersOf } from './plan.ts';
import { clearSite, type FleetSite, ignoring, prepareSite } from './provision.ts';
import { SavedFleet } from './saved-fleet.ts';

/** Where the TVs of a fleet are at home. */
export interface FleetLifecycle {
  desk: PairingCodeProvider;
  /** What was given or made up. */
  seed: string;
  /** What all chance of this run follows from: of a kept fleet, something else in each run. */
  runSeed: string;
  /** What TVs kept of the run before, by their numbers. */
  states: readonly (PlayerState | undefined)[];
  /** Keeps the TVs for the next run, or takes away what was made. */
  leave(states: readonly (PlayerState | undefined)[]): Promise<void>;
}

export interface Provisioner {
  options: FleetOptions;
  plan: FleetPlan;
  gear: FleetDependencies;
  /** Ends what is under way. */
  signal: AbortSignal;
  /** Ends the clearing away, some time after the other. */
  clearing: AbortSignal;
}

const revocationsAtOnce = 32;

/** Makes as many screens as are missing; after a failure half-way none is left of them. */
async function makeScreens(
  household: Provisioner,
  count: number,
  onSite: (site: FleetSite) => void,
): Promise<string[]> {
  const { options, plan, gear, signal } = household;
  const { management } = gear;
  if (count <= 0) return [];
  if (!management)
    throw new SignageError(
      'credential_missing',
      'To make screens for the TVs takes a management token.',
    );
  let site: FleetSite | undefined;
  const note = (made: FleetSite) => {
    site = made;
    onSite(made);
  };
  const { playlist, config } = options;
  try {
    return await prepareSite(
      { management, venueName: plan.venue, count, playlist, config, signal },
      note,
    );
  } catch (error) {
    if (site) await clearAway(household, site);
    throw error;
  }
}

function makeDesk(
  { options, plan, gear, signal }: Provisioner,
  screens: readonly string[],
): PairingCodeProvider {
  const { management, ledger, tally } = gear;
  const installer = management && { management, ledger, signal };
  if (options.codes) return listedCodes(options.codes, installer);
  if (!installer) return noCodes;
  return new ScreenCodes(
    installer,
    screens,
    sharersOf(plan, (rule) => tally.fault(rule)),
  );
}

/** What kept some work from being done to its end, as words to add; none when nothing did, or an interruption. */
async function trouble(work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return '';
  } catch (error) {
    if (!(error instanceof SignageError)) throw error;
    return error.code === 'interrupted' ? '' : ` (${error.message})`;
  }
}

/** Frees the screens of given codes again. */
async function revokeAll(
  { gear, clearing }: Provisioner,
  { revoke }: PairingCodeProvider,
): Promise<void> {
  const bound = [...gear.ledger.devices].filter((device) => !device.isRevoked);
  let left = bound.length;
  const why = await trouble(() =>
    forEachBounded(revoke ? bound : [], revocationsAtOnce, async ({ deviceId }) => {
      await ignoring('device_not_found', revoke?.(deviceId, 'The simulation is over.', clearing));
      left--;
    }),
  );
  if (left > 0)
    gear.notes.push(
      `${left} simulated TVs stay on the screens of their codes${why}: free them with signage device revoke.`,
    );
}

async function clearAway({ gear, plan, clearing }: Provisioner, site: FleetSite): Promise<void> {
  if (!gear.management) return;
  const { management } = gear;
  const why = await trouble(() => clearSite(management, site, clearing));
  const left = site.screens.length;
  const how = `signage screen delete --venue ${JSON.stringify(plan.venue)} --selector simulated=true --force`;
  if (left > 0)
    gear.notes.push(`${left} simulated screens are left${why}: delete them with ${how}`);
}

/** Makes what the TVs need to begin. Throws what `/v1` says, and `invalid_file` for a kept folder that cannot be used. */
export async function provision(household: Provisioner): Promise<FleetLifecycle> {
  const { options, plan } = household;
  const kept =
    options.keep === undefined
      ? undefined
      : new SavedFleet(options.keep, options.keptFor ?? options.url);
  const record = await kept?.load();
  const seed = options.seed ?? record?.seed ?? plan.seed;
  const runs = (record?.runs ?? 0) + 1;
  let site: FleetSite | undefined;
  const numbers = Array.from({ length: plan.count }, (_, number) => number);
  const states = kept ? await Promise.all(numbers.map((number) => kept.loadTv(number))) : [];
  const known = record?.screens ?? [];
  const missing = options.codes ? 0 : plan.count - known.length;
  const screens = [...known, ...(await makeScreens(household, missing, (made) => (site = made)))];
  await kept?.save({ seed, runs, screens });
  const desk = makeDesk(household, screens);

  async function leave(last: readonly (PlayerState | undefined)[]): Promise<void> {
    if (kept) await kept.saveTvs(last);
    else if (site) await clearAway(household, site);
    else await revokeAll(household, desk);
  }
  return { desk, seed, runSeed: kept ? `${seed}/run ${runs}` : seed, states, leave };
}
