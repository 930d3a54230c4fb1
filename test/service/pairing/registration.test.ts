import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashCode } from '../../../src/domain/records/pairing-code.ts';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { heldDisk } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { mounted } from '../../support/service/mounted.ts';
import { expectProblem } from '../../support/service/problem.ts';

const register = (service: Awaited<ReturnType<typeof mounted>>, code: string) =>
  service.send('POST', '/devices/register', { body: { pairingCode: code, deviceInfo: {} } });

/** A service with a pending code. */
async function pending(place = 'memory:', options: Parameters<typeof openStore>[1] = {}) {
  const store = await openStore(place, options);
  const service = await mounted({ store });
  const { code, screenId }: { code: string; screenId: string } = await service.code();
  return { store, service, code, screenId };
}

describe('a registration with a concurrent change', () => {
  it('404 pairing_code_not_found when the code was purged after the look-up', async () => {
    const { store, service, code, screenId } = await pending();
    const purge = store.write((tx) => tx.delete('codes', hashCode(store.secret, code)));
    const answer = await register(service, code);
    await purge;
    expectProblem(answer, 404, 'pairing_code_not_found');
    expect(await store.read.get('screens', screenId)).toMatchObject({
      state: 'provisioning',
      deviceId: null,
    });
  });

  it('409 pairing_code_used when the screen has a device and the code is pending', async () => {
    const { store, service, code, screenId } = await pending();
    const screen = (await store.read.get('screens', screenId))!;
    await store.write((tx) =>
      tx.put('screens', { ...screen, state: 'active', deviceId: randomUUID() }),
    );
    expectProblem(await register(service, code), 409, 'pairing_code_used');
    expect((await store.list('devices', { limit: 1 })).items).toEqual([]);
  });

  it('410 pairing_code_cancelled when the screen was deleted and the code is pending', async () => {
    const { store, service, code, screenId } = await pending();
    await store.write((tx) => tx.delete('screens', screenId));
    expectProblem(await register(service, code), 410, 'pairing_code_cancelled');
  });

  it('503 unavailable when the store rejects the change, and the code stays pending', async () => {
    const disk = heldDisk(nodeFileSystem);
    const { store, service, code, screenId } = await pending(await temporaryFolder(), { disk });
    disk.failing = true;
    expectProblem(await register(service, code), 503, 'unavailable');
    expect(await store.read.get('codes', hashCode(store.secret, code))).toMatchObject({
      state: 'pending',
      deviceId: null,
    });
    expect(await store.read.get('screens', screenId)).toMatchObject({
      state: 'provisioning',
      deviceId: null,
    });
    disk.failing = false;
    await store.close();
  });
});

describe('the first use of a device key', () => {
  it('is recorded once for concurrent requests', async () => {
    const clock = new ManualClock();
    const store = await openStore('memory:', { clock });
    const service = await mounted({ store, clock });
    const { screenId, apiKey, deviceId } = await service.tv();
    const [key] = await store.read.select('deviceKeys', 'deviceId', [deviceId]);
    expect(key?.firstUsedAt).toBeNull();
    const firstUse = clock.now();
    const config = () => service.send('GET', `/devices/${screenId}/config`, { key: apiKey });
    expect((await Promise.all([config(), config(), config()])).map(({ status }) => status)).toEqual(
      [200, 200, 200],
    );
    clock.advance(1000);
    await config();
    expect((await store.read.select('deviceKeys', 'deviceId', [deviceId]))[0]).toEqual({
      ...key,
      firstUsedAt: firstUse,
    });
  });

  it('200 when the store rejects the record', async () => {
    const disk = heldDisk(nodeFileSystem);
    const store = await openStore(await temporaryFolder(), { disk });
    const service = await mounted({ store });
    const { screenId, apiKey } = await service.tv();
    disk.failing = true;
    expect((await service.send('GET', `/devices/${screenId}/config`, { key: apiKey })).status).toBe(
      200,
    );
    disk.failing = false;
    await store.close();
  });
});
