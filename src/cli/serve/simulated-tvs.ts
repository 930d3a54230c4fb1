import { join, resolve } from 'node:path';
import { ManagementClient } from '../../client/management-client.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import type { FleetOptions } from '../../simulator/fleet/options.ts';
import type { Context } from '../command/environment.ts';
import type { ServeValues } from './options.ts';

/** So many TVs are switched on in a second. */
const perSecond = 50;

interface House extends Context {
  url: string;
  token: string | undefined;
  log: LogSink;
  /** Ends it. */
  signal: AbortSignal;
}

/** The oldest tenant, for the platform token belongs to none. */
async function tenantOf({ url, token, clock, random, signal }: House): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const { items } = await new ManagementClient({ url, token, clock, random }).call('listTenants', {
    query: { limit: 1 },
    signal,
  });
  return items[0]?.id;
}

/** With data in a folder the TVs are kept there: the next start goes on with them. Elsewhere they are taken away again in the end. */
function keptIn({
  store,
  data,
}: Pick<ServeValues, 'store' | 'data'>): Pick<FleetOptions, 'keep' | 'keptFor'> {
  return store === 'json'
    ? { keep: join(resolve(data), 'simulated-tvs'), keptFor: 'the data in the folder above' }
    : {};
}

/**
 * Lets simulated TVs live with a service that runs in this process, until the signal aborts. They are TVs like others: on screens of their own, and
 * over HTTP. Never throws.
 */
export async function runSimulatedTvs(
  house: House,
  settings: Pick<ServeValues, 'simulate' | 'rotateEvery' | 'store' | 'data'>,
): Promise<void> {
  const { url, token, clock, random, signal, log } = house;
  const { simulate: count, rotateEvery: rotateEveryMs } = settings;
  if (count === undefined) return;
  const { readDeviceProfiles } = await import('../simulate/device-profiles.ts');
  const { runFleet } = await import('../../simulator/fleet/fleet.ts');
  log.info({ count }, 'Simulated TVs live with the service until it stops.');
  try {
    const deviceInfos = await readDeviceProfiles(undefined, '--profile');
    const fleet = {
      url,
      token,
      tenantId: await tenantOf(house),
      count,
      rampMs: (count / perSecond) * secondMs,
      deviceInfos,
      rotateEveryMs,
      compare: false,
    };
    const { notes } = await runFleet({ ...fleet, ...keptIn(settings), clock, random, signal });
    for (const note of notes) log.warn({}, note);
  } catch (err) {
    if (signal.aborted) return;
    const needsToken = hasCode(err, 'credential_missing');
    const why = needsToken
      ? 'they need the platform token, which was shown at the first start: set SIGNAGE_ADMIN_TOKEN to it'
      : 'they cannot live here';
    log.warn(needsToken ? {} : { err }, `No simulated TVs: ${why}.`);
  }
}
