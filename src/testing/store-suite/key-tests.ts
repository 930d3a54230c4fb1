import assert from 'node:assert/strict';
import { sectionOf, tableNames } from '../../store/sections.ts';
import type { KeyHolder, Reader, Tx } from '../../store/store.ts';
import { assertMatches } from './assert-matches.ts';
import { guid, tenantA, tenantB } from './sample-batch.ts';
import {
  codeRow,
  deviceKeyRow,
  deviceRow,
  pastPlaylistRow,
  sampleRow,
  screenRow,
  tenantRow,
  tokenRow,
  venueRow,
} from './sample-rows.ts';
import type { TestGroup } from './store-test.ts';

/** Matches the error of a change whose unique key belongs to another row. */
const conflictWith = (existingId: string) => ({ code: 'conflict', existingId });

export function uniqueKeysTests({ it, store, alsoAfterReopen, put }: TestGroup): void {
  for (const table of tableNames)
    for (const [index, keyOf] of Object.entries(sectionOf(table).unique))
      it(`refuses another of ${table} with the same ${index}`, async () => {
        const row = sampleRow(table, 1, { retiring: { hash: 'old', until: 0 } } as object);
        const other = sampleRow(table, 2);
        const twin = Object.keys(row)
          .map((member) => ({ ...other, [member]: row[member as 'id'], id: other.id }))
          .find((one) => keyOf(one) === keyOf(row));
        assert.ok(twin);
        await put({ [table]: [row] });
        await assert.rejects(put({ [table]: [twin] }), conflictWith(row.id));
      });

  it('of names ignore case, and forms of Unicode', async () => {
    await put({ tenants: [tenantRow(1, { name: 'Café' })] });
    const twin = put({ tenants: [tenantRow(2, { name: ' CAFE\u0301' })] });
    await assert.rejects(twin, conflictWith(guid('tena', 1)));
  });

  it('are enforced within one change, which may continue', async () => {
    await store.write(async (tx) => {
      await tx.put('venues', venueRow(1));
      await assert.rejects(
        tx.put('venues', venueRow(2, { name: 'Venue 1' })),
        conflictWith(guid('venu', 1)),
      );
      await tx.put('venues', venueRow(2));
    });
    assert.deepEqual(await store.read.select('venues', 'tenantId', [tenantA]), [
      venueRow(1),
      venueRow(2),
    ]);
  });

  it('are separate for each scope', async () => {
    await put({
      venues: [venueRow(1, { name: 'Same' }), venueRow(2, { name: 'Same', tenantId: tenantB })],
      tokens: [tokenRow(1, { name: 'Same' }), tokenRow(2, { name: 'Same', tenantId: null })],
      devices: [deviceRow(1), deviceRow(2, { screenId: guid('scre', 1), state: 'suspended' })],
    });
    assert.equal((await store.read.find('venues', 'name', `${tenantB}/same`))?.id, guid('venu', 2));
    assert.equal((await store.read.find('tokens', 'name', '/same'))?.id, guid('toke', 2));
    assert.equal((await store.read.find('devices', 'bound', guid('scre', 1)))?.id, guid('devi', 1));
  });

  it('can move within one change: by rename, deletion and swap', async () => {
    await put({
      venues: [venueRow(1, { name: 'A' }), venueRow(2, { name: 'B' }), venueRow(3, { name: 'C' })],
    });
    await store.write(async (tx) => {
      await tx.put('venues', venueRow(1, { name: 'between' }));
      await tx.put('venues', venueRow(2, { name: 'A' }));
      await tx.put('venues', venueRow(1, { name: 'B' }));
      await tx.delete('venues', guid('venu', 3));
      await tx.put('venues', venueRow(4, { name: 'C' }));
      assert.equal((await tx.find('venues', 'name', `${tenantA}/c`))?.id, guid('venu', 4));
      assert.equal(await tx.find('venues', 'name', `${tenantA}/between`), undefined);
    });
    await alsoAfterReopen(async () => {
      const holders = await Promise.all(
        ['a', 'b', 'c', 'between'].map((key) =>
          store.read.find('venues', 'name', `${tenantA}/${key}`),
        ),
      );
      assert.deepEqual(
        holders.map((row) => row?.id),
        [guid('venu', 2), guid('venu', 1), guid('venu', 4), undefined],
      );
    });
  });
}

/** Tests of `ids`. */
export function idsTests({ it, store, reopen, alsoAfterReopen, put }: TestGroup): void {
  const named = (number: number, ...contents: number[]) => ({
    id: guid('scre', number),
    contents: contents.map((content) => ({ id: `content-${content}`, version: content })),
  });
  const screens = (...numbers: number[]) => numbers.map((number) => guid('scre', number));
  const find = async (reader: Reader, ...contents: number[]) => {
    const values = contents.map((content) => `content-${content}`);
    return [...(await reader.ids('screenContents', 'contentId', values))].sort();
  };

  it('return the rows with any of the values, each once', async () => {
    await put({ screenContents: [named(3, 1, 2), named(1, 2), named(2, 3), named(4)] });
    await alsoAfterReopen(async () => {
      assert.deepEqual(await find(store.read, 1), screens(3));
      assert.deepEqual(await find(store.read, 2, 1, 2, 9), screens(1, 3));
      assert.deepEqual(await find(store.read), []);
    });
    await put({ screenContents: [named(3, 2, 3), named(1)] });
    assert.deepEqual(await find(store.read, 1), []);
    assert.deepEqual(await find(store.read, 2, 3), screens(2, 3));
  });

  it('see the puts and deletes of their own change, and of changes before', async () => {
    await put({ screenContents: [named(1, 1), named(2, 1), named(3, 1)] });
    await reopen();
    const earlier = put({ screenContents: [named(3, 2), named(5, 1)] });
    await store.write(async (tx) => {
      await tx.put('screenContents', named(1, 2));
      await tx.put('screenContents', named(4, 1, 2));
      await tx.delete('screenContents', guid('scre', 2));
      await tx.put('screenContents', named(6, 1));
      await tx.delete('screenContents', guid('scre', 6));
      const isEarlier = (await tx.get('screenContents', guid('scre', 5))) !== undefined;
      assert.deepEqual(await find(tx, 1), isEarlier ? screens(4, 5) : screens(3, 4));
      assert.deepEqual(await find(tx, 2), isEarlier ? screens(1, 3, 4) : screens(1, 4));
    });
    await earlier;
    assert.deepEqual(await find(store.read, 1), screens(4, 5));
  });

  it('let one of two changes wait that each put what the other has not found', async () => {
    const add = (number: number) =>
      store.write(async (tx) => {
        if ((await tx.ids('screenContents', 'contentId', ['content-1'])).size > 0) return false;
        await tx.put('screenContents', named(number, 1));
        return true;
      });
    const outcomes = await Promise.all([add(1), add(2)]);
    assert.equal(outcomes.filter(Boolean).length, 1);
  });
}

/** Tests of `select` and `count`. */
export function selectAndCountTests({ it, store, reopen, alsoAfterReopen, put }: TestGroup): void {
  it('return rows of several values, each once, ordered by id', async () => {
    await put({
      codes: [3, 1, 2].map((number) => codeRow(number, { screenId: guid('scre', number % 2) })),
      deviceKeys: [deviceKeyRow(1)],
    });
    const screens = [guid('scre', 1), guid('scre', 0), guid('scre', 1), guid('scre', 7)];
    assert.deepEqual(
      (await store.read.select('codes', 'screenId', screens)).map((code) => code.id),
      ['code-0001', 'code-0002', 'code-0003'],
    );
    assert.deepEqual(await store.read.select('codes', 'screenId', []), []);
    assert.equal(await store.read.count('codes', 'screenId', guid('scre', 1)), 2);
    assert.equal(await store.read.count('codes', 'screenId', guid('scre', 7)), 0);
  });

  it('see the puts and deletes of their own change', async () => {
    await put({ codes: [codeRow(1), codeRow(2)] });
    const screen = guid('scre', 1);
    await store.write(async (tx) => {
      await tx.put('codes', codeRow(3));
      await tx.delete('codes', 'code-0001');
      await tx.put('codes', codeRow(2, { screenId: guid('scre', 2) }));
      await tx.put('codes', codeRow(4));
      await tx.delete('codes', 'code-0004');
      assert.deepEqual(
        (await tx.select('codes', 'screenId', [screen])).map((code) => code.id),
        ['code-0003'],
      );
      assert.equal(await tx.count('codes', 'screenId', screen), 1);
      assert.equal(await tx.get('codes', 'code-0001'), undefined);
      assert.equal(await store.read.count('codes', 'screenId', screen), 2);
    });
    assert.equal(await store.read.count('codes', 'screenId', screen), 1);
  });

  it('read past playlists, which are on disk, like any other table', async () => {
    await put({ pastPlaylists: [1, 2, 10].map((version) => pastPlaylistRow(1, version)) });
    await put({ pastPlaylists: [pastPlaylistRow(2, 1)] });
    await reopen();
    const screen = guid('scre', 1);
    await store.write(async (tx) => {
      await tx.delete('pastPlaylists', `${screen}/1`);
      await tx.delete('pastPlaylists', `${screen}/77`);
      await tx.put('pastPlaylists', pastPlaylistRow(1, 3));
      assert.deepEqual(
        (await tx.select('pastPlaylists', 'screenId', [screen])).map((row) => row.version),
        [10, 2, 3],
      );
      assert.equal(await tx.get('pastPlaylists', `${screen}/1`), undefined);
      assert.equal(await tx.count('pastPlaylists', 'screenId', screen), 3);
    });
    await alsoAfterReopen(async () => {
      assert.deepEqual(
        (await store.read.select('pastPlaylists', 'screenId', [screen])).map((row) => row.version),
        [10, 2, 3],
      );
      assert.equal(await store.read.count('pastPlaylists', 'screenId', guid('scre', 2)), 1);
      assert.deepEqual(
        await store.read.get('pastPlaylists', `${screen}/10`),
        pastPlaylistRow(1, 10),
      );
    });
  });
}

/** Tests of `findByKeyHash`. */
export function findByKeyHashTests({ it, store, put }: TestGroup): void {
  it('returns a device key by its hash, with its device and screen, also within a change', async () => {
    await put({
      deviceKeys: [deviceKeyRow(1), deviceKeyRow(2)],
      devices: [deviceRow(1)],
      screens: [screenRow(1), screenRow(2)],
    });
    const bearers = [
      ['key 1', { key: deviceKeyRow(1), device: deviceRow(1), screen: screenRow(1) }],
      ['key 2', { key: deviceKeyRow(2), device: undefined, screen: screenRow(2) }],
      ['key 3', undefined],
    ] as const;
    for (const [hash, bearer] of bearers)
      assert.deepEqual(await store.read.findByKeyHash(hash), bearer);
    await store.write(async (tx) => {
      await tx.put('devices', deviceRow(2));
      await tx.put('deviceKeys', deviceKeyRow(1, { hash: 'key 3' }));
      assertMatches(await tx.findByKeyHash('key 2'), { device: deviceRow(2) });
      assertMatches(await tx.findByKeyHash('key 3'), { screen: screenRow(1) });
      assert.equal(await tx.findByKeyHash('key 1'), undefined);
      assert.equal((await store.read.findByKeyHash('key 2'))?.device, undefined);
    });
  });

  it('returns each row as it was last changed', async () => {
    await put({
      deviceKeys: [deviceKeyRow(1)],
      devices: [deviceRow(1)],
      screens: [screenRow(1), screenRow(2)],
    });
    const moved = { screenId: guid('scre', 2) };
    const changes: [keyof KeyHolder, (tx: Tx) => Promise<void>, object | undefined][] = [
      ['screen', (tx) => tx.put('screens', screenRow(1, { name: 'A' })), { name: 'A' }],
      ['key', (tx) => tx.put('deviceKeys', deviceKeyRow(1, { revokedAt: 1 })), { revokedAt: 1 }],
      ['device', (tx) => tx.put('devices', deviceRow(1, { suspendedAt: 1 })), { suspendedAt: 1 }],
      ['device', (tx) => tx.put('devices', deviceRow(1, moved)), moved],
      ['screen', (tx) => tx.put('screens', screenRow(1, { name: 'B' })), { name: 'B' }],
      ['key', (tx) => tx.put('deviceKeys', deviceKeyRow(1, moved)), moved],
      ['screen', (tx) => tx.put('screens', screenRow(2, { name: 'C' })), { name: 'C' }],
      ['screen', (tx) => tx.delete('screens', guid('scre', 2)), undefined],
      ['screen', (tx) => tx.put('screens', screenRow(2)), { name: 'Screen 2' }],
      ['device', (tx) => tx.delete('devices', guid('devi', 1)), undefined],
      ['device', (tx) => tx.put('devices', deviceRow(1)), { suspendedAt: null }],
    ];
    for (const [member, change, changed] of changes) {
      await store.read.findByKeyHash('key 1');
      await store.write(change);
      assertMatches((await store.read.findByKeyHash('key 1'))?.[member], changed);
    }
    await store.write((tx) => tx.put('deviceKeys', deviceKeyRow(1, { hash: 'key 2' })));
    assert.equal(await store.read.findByKeyHash('key 1'), undefined);
    assertMatches(await store.read.findByKeyHash('key 2'), { device: deviceRow(1) });
    await store.write((tx) => tx.delete('deviceKeys', guid('keys', 1)));
    assert.equal(await store.read.findByKeyHash('key 2'), undefined);
  });
}
