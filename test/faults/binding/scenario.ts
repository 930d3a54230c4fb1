import { randomUUID } from 'node:crypto';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { turns } from '../../support/runtime/turns.ts';
import { mounted } from '../../support/service/mounted.ts';
import { FuzzRandom } from '../fuzz/random.ts';
import { isLinearizable } from './checker.ts';
import { applyCall, nameOf, newScreen } from './model.ts';
import { ScreenClient } from './screen-client.ts';

type Instance = Awaited<ReturnType<typeof mounted<ManualClock>>>;

/** The stores of a scenario. */
export interface Fixture {
  /** Opens another instance on the same data. */
  open(clock: ManualClock): Promise<Store>;
  /**
   * Cuts the power: later writes are lost. The next open finds all synced data and perhaps some of
   * the rest.
   */
  cut?(fuzzRandom: FuzzRandom): void;
  close?(): Promise<void>;
}

export interface ScenarioSize {
  instances: number;
  screens: number;
  clients: number;
  /** Calls of each client between two power cuts. */
  calls: number;
  cuts: number;
}

/** Runs several clients concurrently. Each makes one call after another. */
async function rush(
  fuzzRandom: FuzzRandom,
  size: ScenarioSize,
  instances: readonly Instance[],
  screens: readonly ScreenClient[],
  clock: ManualClock,
) {
  const client = async (): Promise<void> => {
    for (let call = 0; call < size.calls; call++) {
      await turns(fuzzRandom.whole(0, 3));
      clock.advance(1);
      await fuzzRandom.one(screens).call(fuzzRandom, fuzzRandom.one(instances));
    }
  };
  await Promise.all(Array.from({ length: size.clients }, client));
}

async function venueOf(instance: Instance): Promise<string> {
  return (await instance.manage('POST', '/v1/venues', { name: randomUUID() })).id;
}

/** Returns screens with more than one bound device, or with a working key of another device. */
async function contradictions(store: Store, screenIds: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const screenId of screenIds) {
    const devices = (await store.list('devices', { where: { screenId }, limit: 200 })).items;
    const bound = devices.filter(({ state }) => state === 'bound').map(({ id }) => id);
    const keys = await store.read.select(
      'deviceKeys',
      'deviceId',
      devices.map(({ id }) => id),
    );
    const living = new Set(
      keys.filter(({ state }) => state !== 'revoked').map(({ deviceId }) => deviceId),
    );
    const screen = await store.read.get('screens', screenId);
    if (bound.length > 1) found.push(`${bound.length} devices are bound to one screen`);
    if ((screen?.deviceId ?? undefined) !== bound[0])
      found.push('a screen names another device than the one bound to it');
    if ([...living].some((id) => id !== bound[0])) found.push('a key outlived its device');
  }
  return found;
}

/** Runs one scenario. Returns the violations. */
export async function runBindingScenario(
  seed: string,
  place: Fixture,
  size: ScenarioSize,
): Promise<{ found: string[]; calls: number }> {
  const fuzzRandom = new FuzzRandom(seed);
  const clock = new ManualClock();
  const start = async () => {
    const stores = await Promise.all(
      Array.from({ length: size.instances }, () => place.open(clock)),
    );
    return {
      stores,
      instances: await Promise.all(stores.map((store) => mounted({ store, clock }))),
    };
  };
  let running = await start();
  const first = running.instances[0] as Instance;
  const venueId = await venueOf(first);
  const tick = { now: 0 };
  const screens: ScreenClient[] = [];
  for (let n = 0; n < size.screens; n++) {
    const { id } = await first.manage('POST', '/v1/screens', { venueId, name: randomUUID() });
    screens.push(new ScreenClient(id, tick));
  }
  for (let life = 0; life <= size.cuts; life++) {
    const isLast = life === size.cuts;
    const calling = rush(fuzzRandom, size, running.instances, screens, clock);
    if (!isLast) {
      await turns(fuzzRandom.whole(5, 60));
      place.cut?.(fuzzRandom);
    }
    await calling;
    if (isLast) break;
    running = await start();
  }
  const found = await contradictions(
    running.stores[0] as Store,
    screens.map(({ id }) => id),
  );
  for (const screen of screens) {
    const calls = await screen.history(running.instances[0] as Instance);
    found.push(...screen.wrong);
    if (!isLinearizable(calls, newScreen, applyCall, nameOf))
      found.push(`no order explains what clients were told:\n${screen.told()}`);
  }
  await Promise.all(running.stores.map((store) => store.close()));
  await place.close?.();
  return { found, calls: tick.now };
}
