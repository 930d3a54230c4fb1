import { forEachBounded } from '../../domain/concurrency.ts';
import { SignageError } from '../../domain/error.ts';
import type { PlayerState } from '../../player/state.ts';
import type { PairingCodeProvider } from '../tv/device.ts';
import { listedCodes, ScreenCodes } from './code-provider.ts';
import type { FleetDependencies } from './dependencies.ts';
import type { FleetOptions } from './options.ts';
import { type FleetPlan, sharersOf } from './plan.ts';
import { clearSite, type FleetSite, ignoring, prepareSite } from './provision.ts';
import type { LeftBehind } from './report.ts';
import { SavedFleet } from './saved-fleet.ts';

/** The environment of a fleet, with everything that `provision` has created or loaded. */
export interface FleetLifecycle {
  codeProvider: PairingCodeProvider;
  /** The given seed, the seed of the saved fleet, or a generated seed. */
  seed: string;
  /** Seed of all randomness in this run. A saved fleet gets a different one in each run. */
  runSeed: string;
  /** States of the TVs from the previous run, by TV number. */
  states: readonly (PlayerState | undefined)[];
  /**
   * With `keep`, saves the TVs for the next run. Otherwise deletes the created records, or revokes
   * the devices of given codes. Returns the records that stay in the service.
   */
  leave(states: readonly (PlayerState | undefined)[]): Promise<LeftBehind>;
}

export interface ProvisionContext {
  options: FleetOptions;
  plan: FleetPlan;
  dependencies: FleetDependencies;
  /** Aborts all work except the cleanup. */
  signal: AbortSignal;
  /** Aborts the cleanup, some time after `signal`. */
  clearing: AbortSignal;
}

const revocationsAtOnce = 32;

/**
 * Creates `count` screens in the venue of the fleet. Calls `onSite` before it creates the first
 * screen.
 */
async function makeScreens(
  { options, plan, dependencies, signal }: ProvisionContext,
  count: number,
  onSite: (site: FleetSite) => void,
): Promise<string[]> {
  const { management } = dependencies;
  if (count <= 0) return [];
  if (!management)
    throw new SignageError(
      'credential_missing',
      'Creating screens for the TVs requires a management token.',
    );
  const { playlist, config } = options;
  const wanted = { management, venueName: plan.venue, count, playlist, config, signal };
  return prepareSite(wanted, onSite);
}

function makeCodeProvider(
  { options, plan, dependencies, signal }: ProvisionContext,
  screens: readonly string[],
): PairingCodeProvider {
  const { management, ledger, counters } = dependencies;
  const installer = management && { management, ledger, signal };
  // Without a token and codes, this is a saved fleet whose TVs already have their keys.
  if (options.codes || !installer) return listedCodes(options.codes ?? [], installer);
  return new ScreenCodes(
    installer,
    screens,
    sharersOf(plan, (rule) => counters.fault(rule)),
  );
}

/**
 * Runs `work`. Returns the message of its error as text to append. Returns an empty text after
 * success or an interruption.
 */
async function failureText(work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return '';
  } catch (error) {
    if (!(error instanceof SignageError)) throw error;
    return error.code === 'interrupted' ? '' : ` (${error.message})`;
  }
}

/** Revokes all devices, so that the screens of given codes are free again. */
async function revokeAll(
  { dependencies, clearing }: ProvisionContext,
  { revoke }: PairingCodeProvider,
): Promise<void> {
  const bound = [...dependencies.ledger.devices].filter((device) => !device.isRevoked);
  let left = bound.length;
  const reason = await failureText(() =>
    forEachBounded(revoke ? bound : [], revocationsAtOnce, async ({ deviceId }) => {
      await ignoring('device_not_found', revoke?.(deviceId, 'The simulation is over.', clearing));
      left--;
    }),
  );
  if (left > 0)
    dependencies.notes.push(
      `${left} simulated TVs stay on the screens of their codes${reason}: revoke them with signage device revoke.`,
    );
}

async function deleteSite(
  { dependencies, plan, clearing }: ProvisionContext,
  site: FleetSite,
): Promise<void> {
  if (!dependencies.management) return;
  const { management } = dependencies;
  const reason = await failureText(() => clearSite(management, site, clearing));
  const left = site.screens.length;
  const how = `signage screen delete --venue ${JSON.stringify(plan.venue)} --selector simulated=true --force`;
  if (left > 0)
    dependencies.notes.push(`${left} simulated screens are left${reason}: delete them with ${how}`);
}

/**
 * Creates or loads the records that the TVs need. Throws the errors of the management API. Throws
 * `invalid_file` for an unusable folder of a saved fleet.
 */
export async function provision(context: ProvisionContext): Promise<FleetLifecycle> {
  const { options, plan } = context;
  const savedFleet =
    options.keep === undefined
      ? undefined
      : new SavedFleet(options.keep, options.keptFor ?? options.url);
  const record = await savedFleet?.load();
  const seed = options.seed ?? record?.seed ?? plan.seed;
  const runs = (record?.runs ?? 0) + 1;
  let site: FleetSite | undefined;
  const numbers = Array.from({ length: plan.count }, (_, number) => number);
  const states = savedFleet
    ? await Promise.all(numbers.map((number) => savedFleet.loadTv(number)))
    : [];
  const existing = record?.screens ?? [];
  const missing = options.codes ? 0 : plan.count - existing.length;
  const onSite = (created: FleetSite) => {
    site = created;
  };
  const screens = [...existing];
  try {
    for (const one of await makeScreens(context, missing, onSite)) screens.push(one);
  } catch (error) {
    if (site) await deleteSite(context, site);
    throw error;
  }
  await savedFleet?.save({ seed, runs, screens });
  const codeProvider = makeCodeProvider(context, screens);

  async function leave(last: readonly (PlayerState | undefined)[]): Promise<LeftBehind> {
    if (savedFleet) await savedFleet.saveTvs(last);
    else if (site) await deleteSite(context, site);
    else await revokeAll(context, codeProvider);
    const left = savedFleet ? screens : (site?.screens ?? []);
    return {
      events: context.dependencies.ledger.acknowledged,
      screens: left.length,
      isMarked: options.codes === undefined,
    };
  }
  return { codeProvider, seed, runSeed: savedFleet ? `${seed}/run ${runs}` : seed, states, leave };
}
