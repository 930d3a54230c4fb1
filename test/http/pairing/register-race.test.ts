import { afterAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { heldDisk } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { mounted } from '../../support/service/mounted.ts';
import { startService } from '../../support/service/service.ts';

const requestCount = 40;
const opened: Store[] = [];
afterAll(() => Promise.all(opened.map((store) => store.close())));

/** Returns everything in the store that a registration could change. */
async function rows(store: Store, { screenId, tenantId }: { screenId: string; tenantId: string }) {
  const devices = await store.list('devices', { limit: 200 });
  const keys = await store.read.select(
    'deviceKeys',
    'deviceId',
    devices.items.map((device) => device.id),
  );
  const codes = await store.read.select('codes', 'screenId', [screenId]);
  const audit = await store.audit({ tenantIds: [tenantId], limit: 200 });
  return {
    devices: devices.items,
    keys,
    codes,
    screen: await store.read.get('screens', screenId),
    audit: audit.items,
  };
}

describe('POST /devices/register, simultaneously', () => {
  it('201 for exactly one of many with five codes of the same screen', async () => {
    const service = await startService();
    const { id } = await service.screen();
    const codes: string[] = [];
    for (let n = 0; n < 5; n++) codes.push((await service.code(id)).code);
    const answers = await Promise.all(
      Array.from({ length: requestCount }, (_, n) => service.register(codes[n % 5]!)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const others = new Set(answers.map(({ body }) => body.code).filter(Boolean));
    expect([...others].sort()).toEqual(['pairing_code_cancelled', 'pairing_code_used']);
    expect((await service.manage('GET', '/v1/devices')).body.items).toHaveLength(1);
  });

  async function onSlowDisk(location: string) {
    const disk = heldDisk(nodeFileSystem);
    const clock = new ManualClock();
    const store = await openStore(location, { clock, disk });
    opened.push(store);
    const service = await mounted({ store, clock });
    const { code, screenId } = await service.code();
    const tenantId = (await store.read.get('screens', screenId))?.tenantId ?? '';
    const register = (n: number) =>
      service.services.register({
        address: null,
        requestId: null,
        idempotencyKey: n % 2 === 0 ? undefined : `racer-number-${String(n).padStart(4, '0')}`,
        body: { pairingCode: code, deviceInfo: {} as never },
      });
    const race = () =>
      Promise.allSettled(Array.from({ length: requestCount }, (_, n) => register(n)));
    return { disk, store, race, register, screenId, tenantId };
  }

  it('one binding while fdatasync takes 50 ms, and it is not visible before', async () => {
    const { disk, store, race, screenId, tenantId } = await onSlowDisk(await temporaryFolder());
    disk.holdMs = 50;
    const racing = race();
    await new Promise((resolve) => setTimeout(resolve, 25));
    const meanwhile = await rows(store, { screenId, tenantId });
    expect(meanwhile.devices).toEqual([]);
    expect(meanwhile.screen).toMatchObject({ state: 'provisioning', deviceId: null });
    const outcomes = await racing;
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    expect(won).toHaveLength(1);
    const lost = outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map(({ reason }) => reason.code);
    expect(new Set(lost)).toEqual(new Set(['pairing_code_used']));
    const after = await rows(store, { screenId, tenantId });
    expect(after.devices.map(({ id, state }) => ({ id, state }))).toEqual([
      { id: won[0]?.value.answer.deviceId, state: 'bound' },
    ]);
    expect(after.keys).toHaveLength(1);
    expect(after.screen).toMatchObject({ state: 'active', deviceId: after.devices[0]?.id });
  });

  it('no binding and no change when that fdatasync fails, even after a restart', async () => {
    const location = await temporaryFolder();
    const { disk, store, race, register, screenId, tenantId } = await onSlowDisk(location);
    const before = await rows(store, { screenId, tenantId });
    disk.holdMs = 50;
    disk.failing = true;
    const outcomes = await race();
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.code : 'bound',
    );
    expect(new Set(codes)).toEqual(new Set(['unavailable']));
    expect(await rows(store, { screenId, tenantId })).toEqual(before);
    disk.failing = false;
    await expect(register(1)).rejects.toMatchObject({ code: 'unavailable' });
    await store.close().catch(() => undefined);
    opened.pop();
    const again = await openStore(location, { clock: new ManualClock() });
    opened.push(again);
    expect(await rows(again, { screenId, tenantId })).toEqual(before);
  });
});
