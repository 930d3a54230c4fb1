import { randomBytes } from 'node:crypto';
import { interrupted } from '../client/interrupted.ts';
import { ManagementClient } from '../client/management-client.ts';
import { RuntimeClient } from '../client/runtime-client.ts';
import { type Clock, type Random, systemClock } from '../domain/clock.ts';
import { hasCode } from '../domain/error.ts';
import type { Batch } from './batch.ts';
import { forEachBounded } from './bounded.ts';
import { Ledger } from './ledger.ts';
import { pairPlayer } from './pairing.ts';
import type { Player } from './player.ts';
import { prepareScreens, type Screen } from './screens.ts';
import { type Tally, TallyKeeper } from './tally.ts';
import { simulatedDeviceInfo } from './tv-model.ts';

export interface FleetOptions {
  /** Where the service is. */
  url: string;
  /** A management token that may make venues and screens: role `operator` or more. */
  token: string;
  /** The tenant, where a platform token has several to choose from. */
  tenantId?: string | undefined;
  /** Certificates (PEM) to trust in place of Node's own. */
  certificates?: readonly string[];
  /** The name of the venue, which is made if need be. */
  venue: string;
  /** How many TVs. */
  count: number;
  /** How many of them are busy at a time; 8 unless said. */
  concurrency?: number;
  /** How many batches each TV posts, and of how many events; 3 of 10 unless said. */
  batches?: number;
  eventsPerBatch?: number;
  /** Ends the run early; the tally so far is returned, with the failure `interrupted`. */
  signal?: AbortSignal | undefined;
  /** Called with the tally whenever something happened. */
  onProgress?: (tally: Tally) => void;
  clock?: Clock;
  random?: Random;
}

/** The options with what was left out, and what a run works with. */
interface Fleet extends Pick<FleetOptions, 'venue' | 'count' | 'signal'> {
  concurrency: number;
  batches: number;
  eventsPerBatch: number;
  clock: Clock;
  random: Random;
  management: ManagementClient;
  runtime: RuntimeClient;
  tally: TallyKeeper;
}

function assemble(options: FleetOptions): Fleet {
  const { url, token, tenantId, venue, count, signal, onProgress, clock = systemClock, random = randomBytes } = options;
  const { concurrency = 8, batches = 3, eventsPerBatch = 10 } = options;
  const shared = { url, clock, random, ...(options.certificates && { certificates: options.certificates }) };
  const management = new ManagementClient({ ...shared, token, tenantId });
  const runtime = new RuntimeClient(shared);
  const tally = new TallyKeeper(count, onProgress);
  return { venue, count, signal, concurrency, batches, eventsPerBatch, clock, random, management, runtime, tally };
}

/** Does one step of a TV's day; a failure goes into the tally, and the day goes on. Answers whether it went well. */
async function attempt({ tally, signal }: Fleet, step: () => Promise<void>): Promise<boolean> {
  if (signal?.aborted) return false;
  try {
    await step();
    return true;
  } catch (error) {
    if (!hasCode(error, 'interrupted')) tally.fail(error);
    return false;
  }
}

async function fetchPlaylist({ tally }: Fleet, player: Player): Promise<void> {
  try {
    tally.add((await player.fetchPlaylist()) ? 'playlistsFetched' : 'playlistsUnchanged');
  } catch (error) {
    if (!hasCode(error, 'playlist_not_found')) throw error;
    tally.add('playlistsMissing');
  }
}

/** A batch that was not acknowledged is unsettled: it may have been stored all the same. */
async function post({ tally }: Fleet, player: Player, batch: Batch, ledger: Ledger): Promise<void> {
  tally.add('eventsSent', batch.events.length);
  try {
    tally.add('eventsAcknowledged', await player.post(batch));
    ledger.acknowledged(batch.events);
  } catch (error) {
    ledger.unsettled(batch.events);
    throw error;
  }
}

async function compare({ management, tally, signal }: Fleet, player: Player, ledger: Ledger): Promise<void> {
  const stored: object[] = [];
  const query = { deviceId: player.deviceId, limit: 200 };
  for await (const { event } of management.all('listEvents', { query, signal })) stored.push(event);
  tally.add('eventsFound', stored.length);
  for (const difference of ledger.differences(stored)) tally.fail(difference);
}

/** One TV's day, from its pairing to the comparison of what was promised with what was kept. */
async function runTv(fleet: Fleet, screen: Screen, number: number): Promise<void> {
  let player: Player | undefined;
  await attempt(fleet, async () => {
    player = await pairPlayer(fleet, screen.id, simulatedDeviceInfo(number, fleet.random));
    fleet.tally.add('registered');
  });
  if (!player) return;
  const tv = player;
  const ledger = new Ledger();
  await attempt(fleet, async () => void ((await tv.fetchConfig()) && fleet.tally.add('configsFetched')));
  for (let batch = 0; batch < fleet.batches; batch++) {
    await attempt(fleet, () => fetchPlaylist(fleet, tv));
    await attempt(fleet, () => post(fleet, tv, tv.makeBatch(fleet.eventsPerBatch), ledger));
  }
  await attempt(fleet, () => compare(fleet, tv, ledger));
}

/**
 * Lets a fleet of TVs loose on a service: makes the venue, screens and codes, registers the TVs, lets each fetch its playlist and config and
 * post a few batches, and compares what was acknowledged with what the service shows. Resolves with the tally, in which failures of TVs are
 * counted; throws when not even the screens can be made (`unreachable`, `credential_invalid`, …).
 *
 * @example
 * const tally = await runFleet({ url: 'http://127.0.0.1:4100', token, venue: 'Simulated', count: 100 });
 * if (tally.failures.length > 0) report(tally.failures);
 */
export async function runFleet(options: FleetOptions): Promise<Tally> {
  const fleet = assemble(options);
  try {
    const screens = await prepareScreens({ ...fleet, venueName: fleet.venue });
    await forEachBounded(screens.entries(), fleet.concurrency, ([place, screen]) => runTv(fleet, screen, place + 1));
  } catch (error) {
    if (!hasCode(error, 'interrupted')) throw error;
  }
  if (fleet.signal?.aborted) fleet.tally.fail(interrupted());
  return fleet.tally.view();
}
