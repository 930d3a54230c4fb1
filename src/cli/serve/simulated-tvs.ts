import { join, resolve } from 'node:path';
import { ManagementClient } from '../../client/management-client.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import type { FleetOptions } from '../../simulator/fleet/options.ts';
import type { Environment } from '../command/environment.ts';
import type { ServeValues } from './options.ts';

/** Number of TVs that are switched on per second. */
const startsPerSecond = 50;

/** The service to simulate TVs for. `interrupted` ends the simulation. */
export interface Simulation extends Environment {
  url: string;
  token: string | undefined;
  log: LogSink;
}

/**
 * Returns the id of the oldest tenant, for requests with the platform token, which belongs to no
 * tenant.
 */
export async function oldestTenant(simulation: Simulation): Promise<string | undefined> {
  const { url, token, clock, random, interrupted: signal } = simulation;
  if (token === undefined) return undefined;
  const client = new ManagementClient({ url, token, clock, random });
  const { items } = await client.call('listTenants', { query: { limit: 1 }, signal });
  return items[0]?.id;
}

/**
 * Returns the folder that keeps the TVs for the next start. Without a data folder, the TVs are
 * deleted at the end.
 */
function keptIn({
  store,
  data,
}: Pick<ServeValues, 'store' | 'data'>): Pick<FleetOptions, 'keep' | 'keptFor'> {
  return store === 'json'
    ? { keep: join(resolve(data), 'simulated-tvs'), keptFor: 'the data in the folder above' }
    : {};
}

/**
 * Runs simulated TVs against the service of this process until it is interrupted. They have their
 * own screens and use HTTP, as other TVs do. Never throws.
 */
export async function runSimulatedTvs(
  simulation: Simulation,
  settings: Pick<ServeValues, 'simulate' | 'rotateEvery' | 'store' | 'data'>,
): Promise<void> {
  const { url, token, clock, random, interrupted: signal, log } = simulation;
  const { simulate: count, rotateEvery: rotateEveryMs } = settings;
  if (count === undefined) return;
  const { readDeviceProfiles } = await import('../simulate/fixtures.ts');
  const { runFleet } = await import('../../simulator/fleet/fleet.ts');
  log.info({ count }, 'Simulated TVs run until the service stops.');
  try {
    const deviceInfos = readDeviceProfiles(undefined, '--profile');
    const fleet = {
      url,
      token,
      tenantId: await oldestTenant(simulation),
      count,
      rampMs: (count / startsPerSecond) * secondMs,
      deviceInfos,
      rotateEveryMs,
      compare: false,
    };
    const { notes } = await runFleet({ ...fleet, ...keptIn(settings), clock, random, signal });
    for (const note of notes) log.warn({}, note);
  } catch (err) {
    if (signal.aborted) return;
    const needsToken = hasCode(err, 'credential_missing');
    const reason = needsToken
      ? 'they need the platform token, which the first start printed: set SIGNAGE_ADMIN_TOKEN to it'
      : 'the simulation failed';
    log.warn(needsToken ? {} : { err }, `No simulated TVs: ${reason}.`);
  }
}
