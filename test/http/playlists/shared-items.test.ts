import { describe, expect, it } from 'vitest';
import { recordsIn } from '../../store/dump/backup-load.ts';
import { item, manager } from '../../support/service/management.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';

interface ContentRow {
  items: string;
  movedAt?: number;
}

/** Returns the rows with the items of playlists, from a backup. */
async function contentsOf({ url }: TestService): Promise<ContentRow[]> {
  const backup = await fetch(`${url}/v1/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}` },
  });
  return recordsIn(new Uint8Array(await backup.arrayBuffer()))
    .map(({ row }) => row as ContentRow)
    .filter((row) => typeof row?.items === 'string');
}

describe('the items of playlists', () => {
  it('are stored once, for all screens and versions, whatever the order of members', async () => {
    const service = await startService();
    const admin = manager(service);
    const [first, second] = [item({ title: 'Grüße ☀' }), item({ duration: 7 })];
    const reordered = Object.fromEntries(Object.entries(first).reverse());
    const screens = [(await service.screen()).id, (await service.screen()).id];
    const tv = await service.tv(screens[0]);
    for (const screenId of screens) {
      const path = `/v1/screens/${screenId}/playlist`;
      for (const items of [[first], [second], [reordered]])
        expect((await admin.put(path, { items })).status).toBe(200);
      const { items } = (await admin.get(`${path}s`)).body;
      expect(items.map((one: { items: unknown }) => one.items)).toEqual([
        [first],
        [second],
        [first],
      ]);
    }
    const served = await service.send('GET', `/devices/${tv.deviceId}/playlist`, {
      key: tv.apiKey,
    });
    expect(served.body).toMatchObject({ version: 3, items: [first] });
    expect(await contentsOf(service)).toHaveLength(2);
  });

  it('are not purged soon after a version names them again', async () => {
    const service = await startService();
    const admin = manager(service);
    const items = [item()];
    const publish = async () => {
      const { id } = await service.screen();
      await admin.put(`/v1/screens/${id}/playlist`, { items });
      return id;
    };
    const passHour = async () => {
      service.clock.advance(3_600_000);
      await expect.poll(() => service.clock.waitingFor(3_600_000)).toBeGreaterThan(0);
    };
    const moved = { movedAt: expect.any(Number) };
    await admin.delete(`/v1/screens/${await publish()}`);
    await passHour();
    await expect.poll(() => contentsOf(service)).toMatchObject([moved]);
    const again = await publish();
    await passHour();
    expect((await contentsOf(service)).filter(({ movedAt }) => movedAt === undefined)).toHaveLength(
      1,
    );
    await admin.delete(`/v1/screens/${again}`);
    await passHour();
    await expect.poll(() => contentsOf(service)).toMatchObject([moved]);
    await passHour();
    await expect.poll(() => contentsOf(service)).toEqual([]);
  });

  it('are there for the list of versions and a rollback when only a past version names them', async () => {
    const service = await startService();
    const admin = manager(service);
    const { id } = await service.screen();
    const contents = [[item()], [item({ duration: 7 })]];
    for (const items of contents) await admin.put(`/v1/screens/${id}/playlist`, { items });
    service.clock.advance(3_600_000);
    await expect
      .poll(async () => (await contentsOf(service)).filter(({ movedAt }) => movedAt))
      .toHaveLength(1);
    const { items } = (await admin.get(`/v1/screens/${id}/playlists`)).body;
    expect(items.map((one: { items: unknown }) => one.items)).toEqual(contents.toReversed());
    const rollback = { screenIds: [id], action: 'rollback', to: 'previous' };
    expect((await admin.post('/v1/publications', rollback)).status).toBe(200);
    expect((await admin.get(`/v1/screens/${id}/playlist`)).body).toMatchObject({
      version: 3,
      items: contents[0],
    });
  });
});
