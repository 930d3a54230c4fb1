import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../../src/testing/store-suite/store-test.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres/postgres.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres-server.ts';
import { batchOf, guid, impression, tenantA } from '../sample-batch.ts';
import { codeRow, venueRow } from '../sample-rows.ts';

const unavailable = expect.objectContaining({ code: 'unavailable' });
const putVenue = (store: Store, number: number) =>
  store.write((tx) => tx.put('venues', venueRow(number)));
const isReadyAgain = (store: Store) =>
  expect
    .poll(() =>
      store.ready().then(
        () => 'ready',
        () => 'away',
      ),
    )
    .toBe('ready');
const venueIds = async (store: Store) =>
  (await store.list('venues', { limit: 200 })).items.map(({ id }) => id);

let url: string;
const opened: Store[] = [];
const open = async (...[location, options]: Parameters<typeof openStore>) => {
  const store = await openStore(location, options);
  opened.push(store);
  return store;
};
/** A store whose connections can be cut. */
async function openBehindProxy(options?: Parameters<typeof openStore>[1]) {
  const proxy = await databaseProxy(url);
  return { proxy, store: await open(proxy.url, options) };
}
beforeAll(async () => {
  url = await freshDatabase();
});
beforeEach(() => emptyDatabase(url));
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

describe('a database that stops and starts again', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    return () => server.end();
  });

  it('unavailable immediately for everything while it is down; recovers by itself afterwards', async () => {
    const store = await open(server.url('postgres'));
    await putVenue(store, 1);
    store.touch('device', guid('devi', 1), { lastSeenAt: 1 });
    const woken: number[] = [];
    store.watch(`events/${tenantA}`, () => woken.push(Date.now()));
    await server.stop('QUIT');
    const calls: (() => unknown)[] = [
      () => putVenue(store, 2),
      () => store.read.get('venues', guid('venu', 1)),
      () => store.list('venues', { limit: 1 }),
      () => store.appendBatch(batchOf([impression(1)], { key: 'one' })),
      () => store.events({ tenantId: tenantA, order: 'asc', limit: 1 }),
      () => store.impressions({ tenantId: tenantA, groupBy: 'day', by: 'timestamp' }),
      () => store.audit({ tenantIds: [tenantA], limit: 1 }),
      () => store.marks('device', guid('devi', 1)),
      () => store.updateGuessCounters(['192.0.2.1'], (attempts) => ({ attempts, result: 1 })),
      () => store.ready(),
      () => store.purgeBefore(0),
    ];
    for (const call of [...calls, ...calls]) await expect(call()).rejects.toEqual(unavailable);
    // Watchers are woken, because notifications cannot be received.
    await expect.poll(() => woken.length).toBeGreaterThan(0);
    await server.start();
    await isReadyAgain(store);
    expect(await venueIds(store)).toEqual([guid('venu', 1)]);
    await putVenue(store, 2);
    expect(await store.appendBatch(batchOf([impression(1)], { key: 'one' }))).toBe('stored');
    expect(await store.marks('device', guid('devi', 1))).toMatchObject({ lastSeenAt: 1 });
    // Notifications from other instances arrive again.
    const other = await open(server.url('postgres'));
    await expect
      .poll(async () => {
        const before = woken.length;
        await other.appendBatch(batchOf([impression(1)]));
        await pause(50);
        return woken.length > before;
      })
      .toBe(true);
  });
});

describe('a connection that is lost', () => {
  it('before a change is sent: unavailable, nothing is changed, and the next change succeeds', async () => {
    const { proxy, store } = await openBehindProxy();
    const change = store.write(async (tx) => {
      await tx.get('venues', guid('venu', 1));
      proxy.cutBefore('Venue 2');
      await tx.put('venues', venueRow(1));
      await tx.put('venues', venueRow(2));
    });
    await expect(change).rejects.toEqual(unavailable);
    await isReadyAgain(store);
    await putVenue(store, 3);
    expect(await venueIds(store)).toEqual([guid('venu', 3)]);
  });

  it('during a commit: unavailable, and the change is there completely or not at all', async () => {
    const { proxy, store } = await openBehindProxy();
    await putVenue(store, 1);
    proxy.cutAfter('Venue 3');
    const change = store.write(async (tx) => {
      await tx.put('venues', venueRow(2));
      await tx.put('venues', venueRow(3));
    });
    await expect(change).rejects.toEqual(unavailable);
    const other = await open(url);
    await expect
      .poll(() => venueIds(other))
      .toEqual([1, 2, 3].map((number) => guid('venu', number)));
  });

  it('during a notification: it is sent again', async () => {
    const { proxy, store } = await openBehindProxy();
    const other = await open(url);
    const heard: number[] = [];
    other.watch('codes/code-0001', () => heard.push(1));
    proxy.cutBefore('codes/code-0001');
    await store.write((tx) => tx.put('codes', codeRow(1)));
    await expect.poll(() => heard.length).toBeGreaterThan(0);
  });

  it('while a batch is stored: unavailable, and a retry with the same key stores it once', async () => {
    const { proxy, store } = await openBehindProxy();
    await store.appendBatch(batchOf([impression(1)], { key: 'zero' }));
    proxy.cutAfter('"marker"');
    const batch = batchOf([impression(1, { marker: true })], { key: 'one' });
    await expect(store.appendBatch(batch)).rejects.toEqual(unavailable);
    await expect.poll(() => store.appendBatch(batch).catch(() => 'away')).toBe('repeated');
    expect((await store.events({ tenantId: tenantA, order: 'asc', limit: 10 })).items).toHaveLength(
      2,
    );
  });
});

describe('a database that does not answer', () => {
  it('unavailable after the timeout, then immediately, and close does not wait for it', async () => {
    const { proxy, store } = await openBehindProxy({ database: { statementTimeoutSeconds: 1 } });
    await putVenue(store, 1);
    proxy.hang();
    const calls = [
      putVenue(store, 2),
      store.read.get('venues', guid('venu', 1)),
      store.appendBatch(batchOf([impression(1)])),
      store.ready(),
    ];
    for (const call of await Promise.allSettled(calls))
      expect(call).toMatchObject({ status: 'rejected', reason: unavailable });
    for (let turn = 0; turn < 100; turn++)
      await expect(store.read.get('venues', guid('venu', 1))).rejects.toEqual(unavailable);
    await store.close();
  });

  it('unavailable only for the statement that takes too long', async () => {
    const store = await open(url, {
      database: { statementTimeoutSeconds: 1, lockTimeoutSeconds: 1 },
    });
    await inDatabase(url, async (sql) => {
      await sql('BEGIN; LOCK TABLE signage.venues IN ACCESS EXCLUSIVE MODE');
      await expect(putVenue(store, 1)).rejects.toEqual(unavailable);
      expect(await store.appendBatch(batchOf([impression(1)]))).toBe('stored');
    });
    await putVenue(store, 1);
  });

  it('an instance suspended during a change does not block the others, and retries on their changes', async () => {
    const [stopped, store] = [await open(url), await open(url)];
    await putVenue(store, 1);
    const [held, over] = [gate(), gate()];
    const change = stopped.write(async (tx) => {
      const row = await tx.get('venues', guid('venu', 1));
      held.open();
      await over.opened;
      await tx.put('venues', { ...venueRow(1), ...row, address: 'Mine' });
    });
    await held.opened;
    await store.write((tx) => tx.put('venues', venueRow(1, { name: 'Theirs' })));
    over.open();
    await change;
    expect(await store.read.get('venues', guid('venu', 1))).toMatchObject({
      name: 'Theirs',
      address: 'Mine',
    });
  });

  it('an instance suspended while it holds the lock does not block the others for long', async () => {
    const [stopped, store] = [
      await open(url, { database: { statementTimeoutSeconds: 1 } }),
      await open(url),
    ];
    await putVenue(store, 1);
    const [held, over] = [gate(), gate()];
    let tries = 0;
    const change = stopped.write(async (tx) => {
      await tx.get('venues', guid('venu', 1));
      if (++tries <= 6)
        await inDatabase(url, (sql) => sql(`UPDATE signage.venues SET folded = '${tries}'`));
      else {
        held.open();
        await over.opened;
      }
      await tx.put('venues', venueRow(1, { name: 'Held' }));
    });
    await held.opened;
    const put = () =>
      putVenue(store, 1).then(
        () => 'done',
        () => 'waits',
      );
    await expect.poll(put).toBe('done');
    over.open();
    await expect(change).rejects.toEqual(unavailable);
    expect((await store.read.get('venues', guid('venu', 1)))?.name).toBe('Venue 1');
  });
});
