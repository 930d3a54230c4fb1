import { describe, expect, it } from 'vitest';
import { recordsIn } from '../../store/dump/backup-load.ts';
import { item, manager } from '../../support/service/management.ts';
import { adminToken, startService } from '../../support/service/service.ts';

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
    const backup = await fetch(`${service.url}/v1/backup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const rows = recordsIn(new Uint8Array(await backup.arrayBuffer()));
    expect(rows.filter((row) => 'unnamedSince' in ((row.row as object) ?? {}))).toHaveLength(2);
  });
});
