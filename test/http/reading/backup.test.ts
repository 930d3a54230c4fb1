import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeMemoryFileSystem } from '../../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { restoreStore } from '../../../src/store/maintenance/restore.ts';
import { recordsIn } from '../../store/dump/backup-load.ts';
import { faultyDisk } from '../../support/disk/faulty-disk.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { item, manager } from '../../support/service/management.ts';
import { adminToken, startService, type TestService } from '../../support/service/service.ts';

const auth = { authorization: `Bearer ${adminToken}` };
const backupOf = (service: { url: string }) =>
  fetch(`${service.url}/v1/backup`, { method: 'POST', headers: auth });

describe('POST /v1/backup', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });

  it('200 with a dump that must not be cached', async () => {
    const answer = await backupOf(service);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="signage-\d{4}-\d{2}-\d{2}\.dump"$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    const records = recordsIn(new Uint8Array(await answer.arrayBuffer()));
    expect(records.at(0)).toHaveProperty('dump');
    expect(records.at(-1)).toHaveProperty('end');
  });

  it('503 with the reason, and no audit entry, when the data cannot be read', async () => {
    const clock = new ManualClock();
    const disk = faultyDisk(makeMemoryFileSystem());
    const store = await openStore('memory:', { disk, clock });
    const own = await startService({ store, clock });
    await own.manage('POST', '/v1/venues', { name: 'Cafe' });
    await own.tv();
    await store.close();
    const again = await openStore('memory:', { disk, clock });
    const other = await startService({ store: again, clock });
    disk.fault = (operation, path) => {
      if (/^(open|readFile)$/.test(operation) && /documents|events|audit/.test(path))
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      return undefined;
    };
    const answer = await backupOf(other);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      503,
      'application/problem+json',
    ]);
    expect(await answer.json()).toMatchObject({ code: 'unavailable', status: 503 });
    disk.fault = () => undefined;
    const audit = await manager(other).get('/v1/audit?action=backup.create');
    expect(audit.body.items).toEqual([]);
    expect((await backupOf(other)).status).toBe(200);
  });

  it('leaves an audit entry that only platform tokens see', async () => {
    await (await backupOf(service)).arrayBuffer();
    const { body } = await manager(service).get('/v1/audit?action=backup.create');
    expect(body.items[0]).toMatchObject({
      subject: { kind: 'backup', id: null },
      actor: { kind: 'token' },
    });
    expect(
      (await (await manager(service).as('admin')).get('/v1/audit?action=backup.create')).body.items,
    ).toEqual([]);
  });

  it('a backup token takes a backup, also with several tenants', async () => {
    const own = await startService();
    const platform = manager(own);
    const { token, id } = await platform.newToken({ name: 'Nightly', role: 'backup' });
    await platform.tenant('Other');
    const nightly = manager(own, token);
    const { status, headers } = await nightly.send('POST', '/v1/backup');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const audit = await platform.in((await platform.get('/v1/tenants')).body.items[0].id);
    const [entry] = (await audit.get('/v1/audit?action=backup.create')).body.items;
    expect(entry.actor).toEqual({ kind: 'token', id, name: 'Nightly' });
  });

  it('restores keys, playlists, events and pending codes', async () => {
    const tv = await service.tv();
    await service.manage('PUT', `/v1/screens/${tv.screenId}/playlist`, {
      items: [item()],
    });
    await tv.send('POST', 'events', {
      body: [{ type: 'log', timestamp: 1_760_000_000 }],
      headers: { 'idempotency-key': 'one' },
    });
    const { code } = await service.code();
    const folder = join(await temporaryFolder(), 'data');
    const answer = await backupOf(service);
    await restoreStore(answer.body as ReadableStream<Uint8Array>, folder);
    const copy = await startService({ store: folder, clock: service.clock });
    const send = (method: string, what: string, more = {}) =>
      copy.send(method, `/devices/${tv.screenId}/${what}`, { key: tv.apiKey, ...more });
    expect((await send('GET', 'playlist')).body).toEqual((await tv.send('GET', 'playlist')).body);
    await send('POST', 'events', {
      body: [{ type: 'log', timestamp: 1_760_000_000 }],
      headers: { 'idempotency-key': 'one' },
    });
    expect(
      (await copy.manage('GET', `/v1/events?deviceId=${tv.deviceId}`)).body.items,
    ).toHaveLength(1);
    expect((await copy.register(code)).status).toBe(201);
  });

  it('is completed when the service is stopped meanwhile', async () => {
    const big = await startService();
    const tv = await big.tv();
    const event = { type: 'log', timestamp: 1_760_000_000, text: 'x'.repeat(8000) };
    // More than is packed ahead of the reader.
    for (let n = 0; n < 40; n++)
      await tv.send('POST', 'events', { body: Array.from({ length: 100 }, () => event) });
    const answer = await backupOf(big);
    const closing = big.close();
    const records = recordsIn(new Uint8Array(await answer.arrayBuffer()));
    expect(records.at(-1)).toHaveProperty('end');
    await closing;
  });
});
