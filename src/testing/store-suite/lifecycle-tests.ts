import assert from 'node:assert/strict';
import { batchOf, guid, tenantA } from './sample-batch.ts';
import {
  codeRow,
  contentRow,
  pastContentRow,
  pastPlaylistRow,
  playlistRow,
  sampleRow,
  venueRow,
} from './sample-rows.ts';
import { gate, type TestGroup } from './store-test.ts';

/** Matches the error of a closed store. */
const unavailable = { code: 'unavailable' };

/** Tests of `finishedCodes`. */
export function finishedCodesTests({ it, store, put }: TestGroup): void {
  it('returns codes used, cancelled or expired before a time, oldest first, up to the limit', async () => {
    await put({
      codes: [
        codeRow(1, { expiresAt: 3000 }),
        codeRow(2, { state: 'used', expiresAt: 9000, usedAt: 1000 }),
        codeRow(3, { state: 'cancelled', expiresAt: 9000, cancelledAt: 2000 }),
        codeRow(4, { expiresAt: 9000 }),
      ],
    });
    assert.deepEqual(await store.finishedCodes(9000, 10), ['code-0002', 'code-0003', 'code-0001']);
    assert.deepEqual(await store.finishedCodes(9000, 2), ['code-0002', 'code-0003']);
    assert.deepEqual(await store.finishedCodes(1000, 10), []);
  });
}

/** Tests of `endedRows`. */
export function endedRowsTests({ it, store, put, reopen }: TestGroup): void {
  it('returns the rows that ended before a time', async () => {
    const rows = (['pastInputs', 'loops'] as const).map((table) => ({
      table,
      ids: [1, 2, 3].map((number) => String(sampleRow(table, number).id)),
    }));
    await put({
      pastInputs: [1, 2, 3].map((number) => sampleRow('pastInputs', number)),
      loops: [1, 2, 3].map((number) => sampleRow('loops', number)),
    });
    for (const { table, ids } of rows) {
      assert.deepEqual((await store.endedRows(table, 3)).sort(), ids.slice(0, 2));
      await reopen();
      await store.write((tx) => tx.delete(table, ids[0] as string));
      assert.deepEqual(await store.endedRows(table, 3), ids.slice(1, 2));
    }
  });
}

/** Tests of `supersededContents` and `unnamedContents`. */
export function unusedContentsTests({ it, store, put, reopen }: TestGroup): void {
  it('returns contents that only past versions name, and those there that no version names', async () => {
    const search = async () => ({
      past: (await store.supersededContents()).sort(),
      unnamed: (await store.unnamedContents()).sort(),
    });
    await put({
      contents: [1, 2, 4].map((number) => contentRow(number)),
      pastContents: [1, 3, 5].map((number) => pastContentRow(number)),
      playlists: [playlistRow(1, 1), playlistRow(2, 1)],
      pastPlaylists: [pastPlaylistRow(1, 2), pastPlaylistRow(2, 2), pastPlaylistRow(2, 3)],
    });
    const before = { past: ['content-2', 'content-4'], unnamed: ['content-5'] };
    assert.deepEqual(await search(), before);
    await reopen();
    assert.deepEqual(await search(), before);
    await store.write(async (tx) => {
      await tx.delete('playlists', guid('scre', 1));
      await tx.delete('pastPlaylists', `${guid('scre', 1)}/2`);
      await tx.delete('pastPlaylists', `${guid('scre', 2)}/3`);
    });
    await reopen();
    assert.deepEqual(await search(), { ...before, unnamed: ['content-3', 'content-5'] });
    await put({ playlists: [playlistRow(2, 4)] });
    assert.deepEqual(await search(), {
      past: ['content-1', 'content-2'],
      unnamed: ['content-1', 'content-3', 'content-5'],
    });
  });
}

/** Tests of `watch`. */
export function watchTests({ it, store, put }: TestGroup): void {
  it('wakes when a change of the code is readable, and not after it was stopped', async () => {
    const states: (string | undefined)[] = [];
    let woken = gate();
    const stop = store.watch('codes/code-0001', async () => {
      states.push((await store.read.get('codes', 'code-0001'))?.state);
      woken.open();
    });
    await put({ codes: [codeRow(1)] });
    await woken.opened;
    assert.ok(states.includes('pending'));
    woken = gate();
    await store.write((tx) => tx.delete('codes', 'code-0001'));
    await woken.opened;
    assert.equal(states.at(-1), undefined);
    stop();
    stop();
    const before = states.length;
    await put({ codes: [codeRow(1)] });
    assert.equal(states.length, before);
  });

  it('wakes watchers of a tenant’s events', async () => {
    const woken = gate();
    store.watch(`events/${tenantA}`, woken.open);
    await store.appendBatch(batchOf([{ type: 'log', timestamp: 1 }]));
    await woken.opened;
  });

  it('wakes watchers of `*` with the changed topic', async () => {
    const woken = gate();
    const changed: string[] = [];
    const stop = store.watch('*', (topic) => {
      changed.push(topic);
      woken.open();
    });
    await put({ codes: [codeRow(2)] });
    await woken.opened;
    assert.deepEqual(changed, ['codes/code-0002']);
    stop();
  });
}

/** Tests of `ready` and `close`. */
export function readyAndCloseTests({ it, store, reopen, put }: TestGroup): void {
  it('is ready', async () => assert.equal(await store.ready(), undefined));

  it('completes pending operations, then rejects new ones', async () => {
    const writes = [
      put({ venues: [venueRow(1)] }),
      store.appendBatch(batchOf([{ type: 'log', timestamp: 1 }])),
    ];
    const closed = store;
    await Promise.all([closed.close(), ...writes]);
    await closed.close();
    const { read } = closed;
    const calls = [
      () => closed.write(async () => 'done'),
      async () => read.get('venues', guid('venu', 1)),
      () => read.find('venues', 'name', 'any'),
      () => read.select('venues', 'tenantId', []),
      () => read.count('venues', 'tenantId', tenantA),
      async () => read.findByKeyHash('any'),
      () => closed.list('venues', { limit: 1 }),
      () => closed.finishedCodes(0, 1),
      async () => closed.playlistSummary(guid('scre', 1)),
      () => closed.playlistSummaries([guid('scre', 1)]),
      () => closed.appendBatch(batchOf([{ type: 'log', timestamp: 1 }])),
      () => closed.events({ tenantId: tenantA, order: 'asc', limit: 1 }),
      () => closed.impressions({ tenantId: tenantA, groupBy: 'day', by: 'timestamp' }),
      () => closed.audit({ tenantIds: [tenantA], limit: 1 }),
      () => closed.ready(),
      () => closed.purgeBefore(0),
      async () => closed.touch('token', guid('toke', 1), { lastUsedAt: 1 }),
      () => closed.marks('token', guid('toke', 1)),
      () => closed.updateGuessCounters(['192.0.2.1'], (attempts) => ({ attempts, result: 1 })),
      async () => closed.watch('codes/any', () => {}),
    ];
    for (const call of calls) await assert.rejects(call(), unavailable);
    await reopen();
    assert.deepEqual(await store.read.get('venues', guid('venu', 1)), venueRow(1));
    assert.equal(
      (await store.events({ tenantId: tenantA, order: 'asc', limit: 10 })).items.length,
      1,
    );
  });

  it('has a secret of 32 bytes, the same after a restart', async () => {
    const secret = Buffer.from(store.secret);
    assert.equal(secret.length, 32);
    await reopen();
    assert.deepEqual(Buffer.from(store.secret), secret);
  });
}
