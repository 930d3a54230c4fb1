import { type Clock, minuteMs } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { mounted } from '../../support/service/mounted.ts';

const lifetimeMs = 15 * minuteMs;

/** Wraps the store of an instance with a defect. */
export type StoreDefect = (store: Store, own: Clock) => Store;

/**
 * Registers with codes at instances whose clocks are wrong by minutes. The lifetime of a code
 * follows the clock of the store. Returns answers other than those due.
 */
export async function registerBySkewedClocks(
  wrap: StoreDefect = (store) => store,
): Promise<string[]> {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  const instances = await Promise.all(
    [0, -20, 20].map((minutes) => {
      const own: Clock = { now: () => clock.now() + minutes * minuteMs, after: () => () => {} };
      return mounted({ store: wrap(store, own), clock: own });
    }),
  );
  const post = async (at: (typeof instances)[number] | undefined, path: string, body: object) =>
    at?.manage('POST', path, body);
  const { id: venueId } = await post(instances[0], '/v1/venues', { name: 'Lobby' });
  const wrong: string[] = [];
  for (const making of instances) {
    for (const registering of instances) {
      for (const [afterMs, due] of [
        [lifetimeMs - 1, 201],
        [lifetimeMs, 410],
      ] as const) {
        const screen = { venueId, name: crypto.randomUUID() };
        const { id: screenId } = await post(making, '/v1/screens', screen);
        const { code } = await post(making, '/v1/devices/provisioning-codes', { screenId });
        clock.advance(afterMs);
        const body = { pairingCode: code, deviceInfo: {} };
        const { status } = await registering.send('POST', '/devices/register', { body });
        if (status !== due) wrong.push(`${status} after ${afterMs} ms, when ${due} was due`);
      }
    }
  }
  await store.close();
  return wrong;
}
