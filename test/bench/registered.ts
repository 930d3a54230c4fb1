import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { timeCalls } from './measure.ts';

/** A registered TV. */
export type Registered = Awaited<ReturnType<RuntimeClient['register']>>;

/** Registers TVs at a service, each on a screen of its own. */
export async function registerTvs(url: string, token: string, count: number, tenantId?: string) {
  const management = new ManagementClient({ url, token, tenantId });
  const anyone = new RuntimeClient({ url });
  const { id: venueId } = await management.call('createVenue', { body: { name: 'Benchmark' } });
  const tvs: Registered[] = [];
  await timeCalls(count, 16, async (n) => {
    const screen = await management.call('createScreen', {
      body: { venueId, name: `Screen ${n}` },
    });
    const { code } = await management.call('createCode', { body: { screenId: screen.id } });
    tvs.push(await anyone.register({ pairingCode: code, deviceInfo: { model: 'Benchmark' } }));
  });
  return tvs;
}
