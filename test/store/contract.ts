import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasCode } from '../../src/domain/error.ts';
import type { GuessCounter, Playlist, Rows } from '../../src/domain/records/rows.ts';
import { parseSelector } from '../../src/domain/selector.ts';
import type { ListedTable, ListQuery } from '../../src/store/queries.ts';
import type {
  GuessCounterChange,
  GuessCountersOfEach,
  KeyHolder,
  Store,
  Tx,
} from '../../src/store/store.ts';
import { pagesContract } from './contract-pages.ts';
import { type StoreUnderTest, telemetryContract } from './contract-telemetry.ts';
import { batchOf, guid, tenantA, tenantB } from './sample-batch.ts';
import {
  auditRow,
  codeRow,
  configRow,
  creationRow,
  deviceKeyRow,
  deviceRow,
  pastPlaylistRow,
  playlistRow,
  screenRow,
  tenantRow,
  tokenRow,
  venueRow,
} from './sample-rows.ts';

const minuteMs = 60_000;

/** A gate: waiters are held until it opens. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Contract of all stores. `open` returns a new store in a location of its own. */
export function describeStore(name: string, open: () => Promise<StoreUnderTest>): void {
  let under: StoreUnderTest;
  let store: Store;
  beforeEach(async () => {
    under = await open();
    store = under.store;
  });
  afterEach(() => under.close());

  const put = (puts: { [T in keyof Rows]?: Rows[T][] }) =>
    store.write(async (tx) => {
      for (const [table, rows] of Object.entries(puts))
        for (const row of rows) await tx.put(table as 'venues', row as Rows['venues']);
    });
  const reopen = async () => {
    store = await under.reopen();
  };
  const conflictWith = (existingId: string) =>
    expect.objectContaining({ code: 'conflict', existingId });
  const unavailable = expect.objectContaining({ code: 'unavailable' });

  describe(`${name}: write`, () => {
    it('keeps rows of every table, across a restart', async () => {
      const rows = {
        tenants: [tenantRow(1)],
        tokens: [
          tokenRow(1, { tenantId: null, role: 'platform' }),
          tokenRow(2, {
            expiresAt: 1_790_000_000_000,
            venueIds: [guid('venu', 2), guid('venu', 1)],
          }),
          tokenRow(3, { expiresAt: null, venueIds: null }),
        ],
        venues: [venueRow(1, { labels: { floor: '2' } })],
        screens: [screenRow(1, { name: 'Lobby "left" \u2028 \\ ü' })],
        devices: [deviceRow(1)],
        deviceKeys: [deviceKeyRow(1)],
        codes: [
          codeRow(1, { answeredConfig: { cachePolicy: { maxSizeGB: 2 } } }),
          codeRow(2, { venueId: guid('venu', 1) }),
        ],
        playlists: [playlistRow(1, 2)],
        pastPlaylists: [pastPlaylistRow(1, 1)],
        configs: [
          configRow('screen', guid('scre', 1), { a: [1, null] }),
          configRow('venue', guid('venu', 1), {}),
          configRow('tenant', tenantA, { syncIntervalMinutes: 3 }),
        ],
        mirrorPending: [{ id: guid('scre', 1), tenantId: tenantA, queuedAt: 1_760_000_000_000 }],
        mirrorTargets: [{ id: 'current', location: 'file:///var/lib/signage/mirror' }],
        creations: [creationRow(1)],
      };
      await put(rows);
      for (const restarted of [false, true]) {
        if (restarted) await reopen();
        for (const [table, expected] of Object.entries(rows)) {
          for (const row of expected)
            expect(await store.read.get(table as keyof Rows, row.id)).toEqual(row);
        }
      }
    });

    it('returns the result of the change', async () => {
      expect(await store.write(async (tx) => (await tx.get('tenants', 'nobody')) ?? 'none')).toBe(
        'none',
      );
    });

    it('replaces a row, which is found by its new keys only', async () => {
      await put({ venues: [venueRow(1, { name: 'Old', tenantId: tenantA })] });
      await put({ venues: [venueRow(1, { name: 'New', tenantId: tenantB })] });
      expect((await store.read.get('venues', guid('venu', 1)))?.name).toBe('New');
      expect(await store.read.find('venues', 'name', `${tenantA}/old`)).toBeUndefined();
      expect((await store.read.find('venues', 'name', `${tenantB}/new`))?.id).toBe(guid('venu', 1));
      expect(await store.read.count('venues', 'tenantId', tenantA)).toBe(0);
      expect(await store.read.count('venues', 'tenantId', tenantB)).toBe(1);
    });

    it('deletes a row, across a restart, and ignores a missing one', async () => {
      await put({ venues: [venueRow(1), venueRow(2)] });
      await store.write(async (tx) => {
        await tx.delete('venues', guid('venu', 1));
        await tx.delete('venues', guid('venu', 99));
      });
      await reopen();
      expect(await store.read.get('venues', guid('venu', 1))).toBeUndefined();
      expect(await store.read.find('venues', 'name', `${tenantA}/venue 1`)).toBeUndefined();
      expect(await store.read.select('venues', 'tenantId', [tenantA])).toEqual([venueRow(2)]);
    });

    it('leaves no trace of a change that throws', async () => {
      await put({ venues: [venueRow(1)] });
      const failing = store.write(async (tx) => {
        await tx.put('venues', venueRow(1, { name: 'Changed' }));
        await tx.put('venues', venueRow(2));
        await tx.delete('venues', guid('venu', 1));
        await tx.audit(auditRow(1));
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      for (const restarted of [false, true]) {
        if (restarted) await reopen();
        expect(await store.read.select('venues', 'tenantId', [tenantA])).toEqual([venueRow(1)]);
        expect((await store.audit({ tenantIds: [tenantA], limit: 10 })).items).toEqual([]);
        await expect(
          store.write(async (tx) => tx.get('venues', guid('venu', 2))),
        ).resolves.toBeUndefined();
      }
    });

    it('serializes 100 concurrent increments of one number', async () => {
      await put({ playlists: [playlistRow(1, 0)] });
      const raise = async (tx: Tx) => {
        const row = await tx.get('playlists', guid('scre', 1));
        await tx.put('playlists', { ...row!, version: row!.version + 1 });
        return row!.version;
      };
      const seen = await Promise.all(Array.from({ length: 100 }, () => store.write(raise)));
      expect(new Set(seen).size).toBe(100);
      expect((await store.read.get('playlists', guid('scre', 1)))?.version).toBe(100);
    });

    it('gives a name to one of 100 concurrent changes', async () => {
      const racers = Array.from({ length: 100 }, (_, number) =>
        put({ venues: [venueRow(number, { name: 'Wanted' })] }),
      );
      const results = await Promise.allSettled(racers);
      const won = results.filter((result) => result.status === 'fulfilled');
      const refused = results.filter(
        (result) => result.status === 'rejected' && hasCode(result.reason, 'conflict'),
      );
      expect([won.length, refused.length]).toEqual([1, 99]);
      expect(await store.read.count('venues', 'tenantId', tenantA)).toBe(1);
    });

    it('hides a change from others until it is complete', async () => {
      const { opened, open: letGo } = gate();
      const read = vi.fn();
      const change = store.write(async (tx) => {
        await tx.put('venues', venueRow(1));
        read(
          await store.read.get('venues', guid('venu', 1)),
          await store.read.count('venues', 'tenantId', tenantA),
        );
        letGo();
      });
      await opened;
      await change;
      expect(read.mock.calls).toEqual([[undefined, 0]]);
      expect(await store.read.get('venues', guid('venu', 1))).toEqual(venueRow(1));
    });

    it('is unaffected when callers modify rows they passed or read', async () => {
      const row = venueRow(1, { labels: { floor: '1' } });
      await store.write(async (tx) => {
        await tx.put('venues', row);
        row.name = 'Changed';
        row.labels.floor = '2';
      });
      const read = await store.read.get('venues', guid('venu', 1));
      Reflect.set(read!.labels, 'floor', '3');
      Reflect.set(read!, 'name', 'Changed');
      expect(await store.read.get('venues', guid('venu', 1))).toEqual(
        venueRow(1, { labels: { floor: '1' } }),
      );
    });

    it('has a time that never decreases', async () => {
      const times = [];
      for (let turn = 0; turn < 3; turn++) {
        times.push(
          await store.write(async (tx) => tx.put('venues', venueRow(turn)).then(() => tx.now)),
        );
      }
      await reopen();
      times.push(await store.write(async (tx) => tx.now));
      expect(times).toEqual([...times].sort());
      expect(times[0]).toBeGreaterThan(Date.UTC(2020, 0));
    });

    it('rejects calls of a tx after its change', async () => {
      const { tx } = await store.write(async (tx) => ({ tx }));
      await expect(tx.put('venues', venueRow(1))).rejects.toThrow();
      await expect((async () => tx.get('venues', guid('venu', 1)))()).rejects.toThrow();
      await expect(tx.audit(auditRow(1))).rejects.toThrow();
      expect(await store.read.get('venues', guid('venu', 1))).toBeUndefined();
    });
  });

  describe(`${name}: unique keys`, () => {
    it.each<[string, () => Promise<void>, () => Promise<void>, string]>([
      [
        'tenants by name',
        () => put({ tenants: [tenantRow(1, { name: 'Café' })] }),
        () => put({ tenants: [tenantRow(2, { name: 'CAFE\u0301' })] }),
        guid('tena', 1),
      ],
      [
        'tokens by name',
        () => put({ tokens: [tokenRow(1)] }),
        () => put({ tokens: [tokenRow(2, { name: 'token 1' })] }),
        guid('toke', 1),
      ],
      [
        'tokens by hash',
        () => put({ tokens: [tokenRow(1)] }),
        () => put({ tokens: [tokenRow(2, { hash: 'hash 1' })] }),
        guid('toke', 1),
      ],
      [
        'venues by name',
        () => put({ venues: [venueRow(1)] }),
        () => put({ venues: [venueRow(2, { name: ' VENUE 1' })] }),
        guid('venu', 1),
      ],
      [
        'screens by name',
        () => put({ screens: [screenRow(1)] }),
        () => put({ screens: [screenRow(2, { name: 'screen 1' })] }),
        guid('scre', 1),
      ],
      [
        'bound devices by screen',
        () => put({ devices: [deviceRow(1)] }),
        () => put({ devices: [deviceRow(2, { screenId: guid('scre', 1) })] }),
        guid('devi', 1),
      ],
      [
        'keys by hash',
        () => put({ deviceKeys: [deviceKeyRow(1)] }),
        () => put({ deviceKeys: [deviceKeyRow(2, { hash: 'key 1' })] }),
        guid('keys', 1),
      ],
    ])('refuses %s', async (_, first, second, existingId) => {
      await first();
      await expect(second()).rejects.toEqual(conflictWith(existingId));
    });

    it('are enforced within one change, which may continue', async () => {
      await store.write(async (tx) => {
        await tx.put('venues', venueRow(1));
        await expect(tx.put('venues', venueRow(2, { name: 'Venue 1' }))).rejects.toEqual(
          conflictWith(guid('venu', 1)),
        );
        await tx.put('venues', venueRow(2));
      });
      expect(await store.read.select('venues', 'tenantId', [tenantA])).toEqual([
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
      expect((await store.read.find('venues', 'name', `${tenantB}/same`))?.id).toBe(
        guid('venu', 2),
      );
      expect((await store.read.find('tokens', 'name', '/same'))?.id).toBe(guid('toke', 2));
      expect((await store.read.find('devices', 'bound', guid('scre', 1)))?.id).toBe(
        guid('devi', 1),
      );
    });

    it('can move within one change: by rename, deletion and swap', async () => {
      await put({
        venues: [
          venueRow(1, { name: 'A' }),
          venueRow(2, { name: 'B' }),
          venueRow(3, { name: 'C' }),
        ],
      });
      await store.write(async (tx) => {
        await tx.put('venues', venueRow(1, { name: 'between' }));
        await tx.put('venues', venueRow(2, { name: 'A' }));
        await tx.put('venues', venueRow(1, { name: 'B' }));
        await tx.delete('venues', guid('venu', 3));
        await tx.put('venues', venueRow(4, { name: 'C' }));
        expect((await tx.find('venues', 'name', `${tenantA}/c`))?.id).toBe(guid('venu', 4));
        expect(await tx.find('venues', 'name', `${tenantA}/between`)).toBeUndefined();
      });
      for (const restarted of [false, true]) {
        if (restarted) await reopen();
        const holders = await Promise.all(
          ['a', 'b', 'c', 'between'].map((key) =>
            store.read.find('venues', 'name', `${tenantA}/${key}`),
          ),
        );
        expect(holders.map((row) => row?.id)).toEqual([
          guid('venu', 2),
          guid('venu', 1),
          guid('venu', 4),
          undefined,
        ]);
      }
    });
  });

  describe(`${name}: select and count`, () => {
    it('return rows of several values, each once, ordered by id', async () => {
      await put({
        codes: [3, 1, 2].map((number) => codeRow(number, { screenId: guid('scre', number % 2) })),
        deviceKeys: [deviceKeyRow(1)],
      });
      const screens = [guid('scre', 1), guid('scre', 0), guid('scre', 1), guid('scre', 7)];
      expect(
        (await store.read.select('codes', 'screenId', screens)).map((code) => code.id),
      ).toEqual(['code-0001', 'code-0002', 'code-0003']);
      expect(await store.read.select('codes', 'screenId', [])).toEqual([]);
      expect(await store.read.count('codes', 'screenId', guid('scre', 1))).toBe(2);
      expect(await store.read.count('codes', 'screenId', guid('scre', 7))).toBe(0);
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
        expect((await tx.select('codes', 'screenId', [screen])).map((code) => code.id)).toEqual([
          'code-0003',
        ]);
        expect(await tx.count('codes', 'screenId', screen)).toBe(1);
        expect(await tx.get('codes', 'code-0001')).toBeUndefined();
        expect(await store.read.count('codes', 'screenId', screen)).toBe(2);
      });
      expect(await store.read.count('codes', 'screenId', screen)).toBe(1);
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
        expect(
          (await tx.select('pastPlaylists', 'screenId', [screen])).map((row) => row.version),
        ).toEqual([10, 2, 3]);
        expect(await tx.get('pastPlaylists', `${screen}/1`)).toBeUndefined();
        expect(await tx.count('pastPlaylists', 'screenId', screen)).toBe(3);
      });
      for (const restarted of [false, true]) {
        if (restarted) await reopen();
        expect(
          (await store.read.select('pastPlaylists', 'screenId', [screen])).map(
            (row) => row.version,
          ),
        ).toEqual([10, 2, 3]);
        expect(await store.read.count('pastPlaylists', 'screenId', guid('scre', 2))).toBe(1);
        expect(await store.read.get('pastPlaylists', `${screen}/10`)).toEqual(
          pastPlaylistRow(1, 10),
        );
      }
    });
  });

  describe(`${name}: findByKeyHash`, () => {
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
        expect(await store.read.findByKeyHash(hash)).toEqual(bearer);
      await store.write(async (tx) => {
        await tx.put('devices', deviceRow(2));
        await tx.put('deviceKeys', deviceKeyRow(1, { hash: 'key 3' }));
        expect(await tx.findByKeyHash('key 2')).toMatchObject({ device: deviceRow(2) });
        expect(await tx.findByKeyHash('key 3')).toMatchObject({ screen: screenRow(1) });
        expect(await tx.findByKeyHash('key 1')).toBeUndefined();
        expect((await store.read.findByKeyHash('key 2'))?.device).toBeUndefined();
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
        const row = (await store.read.findByKeyHash('key 1'))?.[member];
        expect(row).toEqual(changed && expect.objectContaining(changed));
      }
      await store.write((tx) => tx.put('deviceKeys', deviceKeyRow(1, { hash: 'key 2' })));
      expect(await store.read.findByKeyHash('key 1')).toBeUndefined();
      expect(await store.read.findByKeyHash('key 2')).toMatchObject({ device: deviceRow(1) });
      await store.write((tx) => tx.delete('deviceKeys', guid('keys', 1)));
      expect(await store.read.findByKeyHash('key 2')).toBeUndefined();
    });
  });

  describe(`${name}: list`, () => {
    const ids = async <T extends ListedTable>(table: T, query: Omit<ListQuery<T>, 'limit'>) => {
      const { items, next } = await store.list(table, { limit: 100, ...query } as ListQuery<T>);
      expect(next).toBeNull();
      return items.map((row) => Number(row.id.slice(-4)));
    };

    it('returns pages by id, with the start of the next page', async () => {
      await put({ venues: [5, 3, 1, 4, 2].map((number) => venueRow(number)) });
      const first = await store.list('venues', { limit: 2 });
      expect(first).toEqual({ items: [venueRow(1), venueRow(2)], next: guid('venu', 2) });
      const second = await store.list('venues', { limit: 3, after: first.next! });
      expect(second).toEqual({ items: [venueRow(3), venueRow(4), venueRow(5)], next: null });
      expect(await store.list('venues', { limit: 3, after: guid('venu', 5) })).toEqual({
        items: [],
        next: null,
      });
    });

    it('returns pages of pending mirror writes', async () => {
      const pending = [3, 1, 2].map((number) => ({
        id: guid('scre', number),
        tenantId: tenantA,
        queuedAt: number,
      }));
      await put({ mirrorPending: pending });
      expect((await store.list('mirrorPending', { limit: 2 })).next).toBe(guid('scre', 2));
      await store.write((tx) => tx.delete('mirrorPending', guid('scre', 1)));
      expect(await ids('mirrorPending', {})).toEqual([2, 3]);
      await reopen();
      expect(await ids('mirrorPending', {})).toEqual([2, 3]);
    });

    it('continues after a deleted row', async () => {
      await put({ venues: [1, 2, 3].map((number) => venueRow(number)) });
      await store.write((tx) => tx.delete('venues', guid('venu', 2)));
      expect(await ids('venues', { after: guid('venu', 2) })).toEqual([3]);
    });

    it('filters by members, including null and several values', async () => {
      const screens = [1, 2, 3].map((number) =>
        screenRow(number, {
          venueId: guid('venu', number % 2),
          state: number === 3 ? 'active' : 'provisioning',
        }),
      );
      await put({ screens, tokens: [tokenRow(1), tokenRow(2, { tenantId: null })] });
      expect(await ids('screens', { where: { venueId: guid('venu', 1) } })).toEqual([1, 3]);
      expect(
        await ids('screens', {
          where: { tenantId: tenantA, venueId: guid('venu', 1), state: 'active' },
        }),
      ).toEqual([3]);
      expect(await ids('screens', { where: { venueId: guid('venu', 9) } })).toEqual([]);
      expect(
        await ids('screens', {
          where: { tenantId: tenantA, venueId: [guid('venu', 0), guid('venu', 1)] },
        }),
      ).toEqual([1, 2, 3]);
      expect(await ids('screens', { where: { tenantId: tenantA, venueId: [] } })).toEqual([]);
      expect(
        await ids('screens', {
          where: { tenantId: tenantA, id: [guid('scre', 3), guid('scre', 1)] },
        }),
      ).toEqual([1, 3]);
      expect(await ids('screens', { where: { tenantId: tenantB } })).toEqual([]);
      expect(await ids('tokens', { where: { tenantId: null } })).toEqual([2]);
    });

    it('filters by labels, all of which must match', async () => {
      const labels: Record<string, string>[] = [
        { floor: '1', wing: 'a' },
        { floor: '1', wing: 'b' },
        { floor: '2' },
      ];
      await put({ screens: labels.map((one, number) => screenRow(number, { labels: one })) });
      expect(await ids('screens', { labels: { floor: '1' } })).toEqual([0, 1]);
      expect(await ids('screens', { labels: { floor: '1', wing: 'b' } })).toEqual([1]);
      expect(await ids('screens', { labels: { constructor: '' } })).toEqual([]);
    });

    it('filters screens and devices by a selector of labels of the screen and its venue', async () => {
      const labels: Record<string, string>[] = [
        { role: 'menu', city: 'Accra' },
        { role: 'menu', city: 'Kumasi', test: '' },
        { role: 'wall', 'it\'s "odd" %$1': 'a\\b' },
        {},
      ];
      const venueOf = (number: number) => guid('venu', number % 2);
      await put({
        venues: [0, 1].map((number) => venueRow(number, { labels: { side: `${number}` } })),
        screens: labels.map((one, number) =>
          screenRow(number, { labels: one, venueId: venueOf(number) }),
        ),
        devices: labels.map((_, number) => deviceRow(number, { venueId: venueOf(number) })),
      });
      const expected: Record<string, number[]> = {
        'role=menu': [0, 1],
        'role!=menu': [2, 3],
        'city in (Accra,Tamale)': [0],
        'city notin (Accra)': [1, 2, 3],
        'role,!test': [0, 2],
        'test=': [1],
        'venue:side=0': [0, 2],
        'venue:side=1,role': [1],
        '!venue:side': [],
        'it\'s "odd" %$1=a\\b': [2],
        constructor: [],
      };
      for (const [text, found] of Object.entries(expected)) {
        const selector = parseSelector(text);
        expect([text, await ids('screens', { selector })]).toEqual([text, found]);
        expect([text, await ids('devices', { selector })]).toEqual([text, found]);
      }
      const venue = { selector: parseSelector('role'), where: { venueId: venueOf(0) } };
      expect(await ids('devices', venue)).toEqual([0, 2]);
    });

    it('finds names, whole or in part, without regard to case', async () => {
      await put({
        venues: ['Café Nord', 'café süd', 'Bar'].map((name, number) => venueRow(number, { name })),
      });
      expect(await ids('venues', { name: 'CAFE\u0301 NORD' })).toEqual([0]);
      expect(await ids('venues', { name: 'Café' })).toEqual([]);
      expect(await ids('venues', { search: 'AFÉ' })).toEqual([0, 1]);
      expect(await ids('venues', { search: 'é S' })).toEqual([1]);
      expect(await ids('venues', { search: '%' })).toEqual([]);
    });

    it('filters online devices: seen within twice the larger interval of their config, and not suspended', async () => {
      const now = 1_760_000_000_000;
      const venueId = guid('venu', 9);
      await put({
        devices: [
          deviceRow(1),
          deviceRow(2, { state: 'suspended' }),
          deviceRow(3),
          deviceRow(4, { venueId }),
          deviceRow(5),
        ],
        configs: [
          configRow('tenant', tenantA, { heartbeatIntervalMinutes: 6 }),
          configRow('venue', venueId, { syncIntervalMinutes: 30 }),
          configRow('screen', guid('scre', 5), { heartbeatIntervalMinutes: 1 }),
        ],
      });
      for (const number of [1, 2, 4, 5])
        store.touch('device', guid('devi', number), { lastSeenAt: now - 12 * minuteMs });
      expect(await ids('devices', { online: { is: true, now } })).toEqual([1, 4]);
      expect(await ids('devices', { online: { is: false, now } })).toEqual([2, 3, 5]);
      expect(await ids('devices', { online: { is: true, now: now + 1 } })).toEqual([4]);
      expect(await ids('devices', { online: { is: true, now }, where: { venueId } })).toEqual([4]);
      expect((await store.fleetCounts(now)).devices).toEqual({ online: 2, offline: 2 });
      expect((await store.fleetCounts(now + 1)).devices).toEqual({ online: 1, offline: 3 });
    });

    it('counts screens by state', async () => {
      expect((await store.fleetCounts(0)).screens).toEqual({ provisioning: 0, active: 0 });
      const active = { state: 'active' as const, deviceId: guid('devi', 1) };
      await put({ screens: [screenRow(1, active), screenRow(2), screenRow(3)] });
      expect((await store.fleetCounts(0)).screens).toEqual({ provisioning: 2, active: 1 });
    });

    it('returns a long table in pages without loss or repetition, past rows that do not match', async () => {
      const many = Array.from({ length: 2500 }, (_, number) =>
        venueRow(number, { labels: number % 500 === 7 ? { rare: 'yes' } : {} }),
      );
      await put({ venues: many });
      const seen: string[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const page = await store.list('venues', {
          limit: 2,
          labels: { rare: 'yes' },
          ...(after === undefined ? {} : { after }),
        });
        expect(page.items.length).toBeLessThanOrEqual(2);
        seen.push(...page.items.map((row) => row.id));
        after = page.next;
      }
      expect(seen).toEqual([7, 507, 1007, 1507, 2007].map((number) => guid('venu', number)));
    });
  });

  describe(`${name}: playlistSummaries`, () => {
    it('returns version, state and times of the newest playlists, without their items', async () => {
      const items = JSON.stringify([{ text: 'a\0"]",\ud800\\' }]);
      const ends = playlistRow(1, 1, { items, validUntil: 1_770_000_000_000 });
      const ended = playlistRow(2, 7, { state: 'withdrawn', publishedAt: 5 });
      await put({ playlists: [ends, ended] });
      const asked = [1, 2, 3].map((n) => guid('scre', n));
      const summaryOf = ({ version, state, publishedAt, validUntil }: Playlist) => ({
        version,
        state,
        publishedAt,
        validUntil,
      });
      const expected = new Map([ends, ended].map((row) => [row.id, summaryOf(row)]));
      expect(await store.playlistSummaries(asked)).toEqual(expected);
      expect(await store.playlistSummaries([])).toEqual(new Map());
      const next = { ...ended, version: 8, state: 'active' as const };
      await put({ playlists: [next] });
      await store.write((tx) => tx.delete('playlists', ends.id));
      expect(await store.playlistSummaries(asked)).toEqual(new Map([[next.id, summaryOf(next)]]));
    });
  });

  describe(`${name}: finishedCodes`, () => {
    it('returns codes used, cancelled or expired before a time, oldest first, up to the limit', async () => {
      await put({
        codes: [
          codeRow(1, { expiresAt: 3000 }),
          codeRow(2, { state: 'used', expiresAt: 9000, usedAt: 1000 }),
          codeRow(3, { state: 'cancelled', expiresAt: 9000, cancelledAt: 2000 }),
          codeRow(4, { expiresAt: 9000 }),
        ],
      });
      expect(await store.finishedCodes(9000, 10)).toEqual(['code-0002', 'code-0003', 'code-0001']);
      expect(await store.finishedCodes(9000, 2)).toEqual(['code-0002', 'code-0003']);
      expect(await store.finishedCodes(1000, 10)).toEqual([]);
    });
  });

  describe(`${name}: watch`, () => {
    it('wakes when a change of the code is readable, and not after it was stopped', async () => {
      const states: (string | undefined)[] = [];
      let woken = gate();
      const stop = store.watch('codes/code-0001', async () => {
        states.push((await store.read.get('codes', 'code-0001'))?.state);
        woken.open();
      });
      await put({ codes: [codeRow(1)] });
      await woken.opened;
      expect(states).toContain('pending');
      woken = gate();
      await store.write((tx) => tx.delete('codes', 'code-0001'));
      await woken.opened;
      expect(states.at(-1)).toBeUndefined();
      stop();
      stop();
      const before = states.length;
      await put({ codes: [codeRow(1)] });
      expect(states.length).toBe(before);
    });

    it('wakes watchers of a tenant’s events', async () => {
      const woken = gate();
      store.watch(`events/${tenantA}`, woken.open);
      await store.appendBatch(batchOf([{ type: 'log', timestamp: 1 }]));
      await woken.opened;
    });
  });

  describe(`${name}: guess counters`, () => {
    const once = (known: GuessCounter | undefined): GuessCounter => ({
      ...{
        times: [...(known?.times ?? []), 7],
        waitUntil: 1,
        waitMs: 2,
        forgetAt: Date.now() + minuteMs,
      },
    });
    /** Adds one attempt to each source. Returns the number of attempts of each. */
    const attempt: GuessCounterChange<number[]> = (known) => {
      const attempts = known.map(once);
      return { attempts, result: attempts.map(({ times }) => times.length) };
    };
    const look: GuessCounterChange<GuessCountersOfEach> = (attempts) => ({
      attempts,
      result: attempts,
    });

    it('are stored by source', async () => {
      expect(await store.updateGuessCounters(['192.0.2.1'], look)).toEqual([undefined]);
      for (const n of [1, 2])
        expect(await store.updateGuessCounters(['192.0.2.1'], attempt)).toEqual([n]);
      expect(await store.updateGuessCounters(['192.0.2.2'], attempt)).toEqual([1]);
      expect(await store.updateGuessCounters(['192.0.2.1'], look)).toMatchObject([
        { times: [7, 7], waitUntil: 1, waitMs: 2 },
      ]);
    });

    it('of several sources change together, in the order of the sources', async () => {
      await store.updateGuessCounters(['b'], attempt);
      expect(await store.updateGuessCounters(['c', 'b', 'a'], attempt)).toEqual([1, 2, 1]);
      expect(await store.updateGuessCounters(['a', 'b', 'c', 'd'], look)).toMatchObject([
        { times: [7] },
        { times: [7, 7] },
        { times: [7] },
        undefined,
      ]);
    });

    it('that a change leaves alone stay the same', async () => {
      await store.updateGuessCounters(['a', 'b'], attempt);
      await store.updateGuessCounters(['a', 'b', 'c'], ([a, b]) => ({
        attempts: [a, once(b)],
        result: undefined,
      }));
      expect(await store.updateGuessCounters(['a', 'b', 'c'], look)).toMatchObject([
        { times: [7] },
        { times: [7, 7] },
        undefined,
      ]);
    });

    it('are incremented one after another by concurrent changes', async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, () => store.updateGuessCounters(['192.0.2.1'], attempt)),
      );
      expect(results.flat().toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 20 }, (_, n) => n + 1),
      );
    });

    it('are incremented one after another when changes share only some sources', async () => {
      const pairs = Array.from({ length: 24 }, (_, n) => ['all', `source ${n % 3}`]);
      await Promise.all(pairs.map((pair) => store.updateGuessCounters(pair, attempt)));
      expect(
        await store.updateGuessCounters(['all', 'source 0', 'source 1', 'source 2'], look),
      ).toMatchObject([24, 8, 8, 8].map((count) => ({ times: Array(count).fill(7) })));
    });

    it('stay the same after a change that threw', async () => {
      await store.updateGuessCounters(['192.0.2.1'], attempt);
      const failing = store.updateGuessCounters(['192.0.2.1'], () => {
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await store.updateGuessCounters(['192.0.2.1'], attempt)).toEqual([2]);
    });

    it('are evaluated at the store’s time', async () => {
      const { now } = await store.write(async (tx) => ({ now: tx.now }));
      const at = await store.updateGuessCounters(['192.0.2.1'], (attempts, nowMs) => ({
        attempts,
        result: nowMs,
      }));
      expect(Math.abs(at - now)).toBeLessThan(minuteMs);
    });
  });

  describe(`${name}: ready and close`, () => {
    it('is ready', async () => expect(await store.ready()).toBeUndefined());

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
      for (const call of calls) await expect(call()).rejects.toEqual(unavailable);
      await reopen();
      expect(await store.read.get('venues', guid('venu', 1))).toEqual(venueRow(1));
      expect(
        (await store.events({ tenantId: tenantA, order: 'asc', limit: 10 })).items,
      ).toHaveLength(1);
    });

    it('has a secret of 32 bytes, the same after a restart', async () => {
      const secret = Buffer.from(store.secret);
      expect(secret).toHaveLength(32);
      await reopen();
      expect(Buffer.from(store.secret)).toEqual(secret);
    });
  });

  telemetryContract(name, open);
  pagesContract(name, open);
}
