import assert from 'node:assert/strict';
import type { Playlist } from '../../domain/records/rows.ts';
import { parseSelector } from '../../domain/selector.ts';
import type { ListQuery } from '../../store/queries.ts';
import type { ListedTable } from '../../store/sections.ts';
import { guid, tenantA, tenantB } from './sample-batch.ts';
import {
  configRow,
  deviceRow,
  playlistRow,
  sampleRow,
  screenRow,
  tokenRow,
  venueRow,
} from './sample-rows.ts';
import { allPages, type TestGroup } from './store-test.ts';

const minuteMs = 60_000;

/** Tests of `list`. */
export function listTests({ it, store, put }: TestGroup): void {
  const ids = async <T extends ListedTable>(table: T, query: Omit<ListQuery<T>, 'limit'>) => {
    const { items, next } = await store.list(table, { limit: 100, ...query } as ListQuery<T>);
    assert.equal(next, null);
    return items.map((row) => Number(row.id.slice(-4)));
  };

  it('returns pages by id, with the start of the next page', async () => {
    await put({ venues: [5, 3, 1, 4, 2].map((number) => venueRow(number)) });
    const first = await store.list('venues', { limit: 2 });
    assert.deepEqual(first, { items: [venueRow(1), venueRow(2)], next: guid('venu', 2) });
    const second = await store.list('venues', { limit: 3, after: guid('venu', 2) });
    assert.deepEqual(second, { items: [venueRow(3), venueRow(4), venueRow(5)], next: null });
    assert.deepEqual(await store.list('venues', { limit: 3, after: guid('venu', 5) }), {
      items: [],
      next: null,
    });
  });

  it('continues after a deleted row', async () => {
    await put({ venues: [1, 2, 3].map((number) => venueRow(number)) });
    await store.write((tx) => tx.delete('venues', guid('venu', 2)));
    assert.deepEqual(await ids('venues', { after: guid('venu', 2) }), [3]);
  });

  it('filters by members, including null and several values', async () => {
    const screens = [1, 2, 3].map((number) =>
      screenRow(number, {
        venueId: guid('venu', number % 2),
        state: number === 3 ? 'active' : 'provisioning',
      }),
    );
    await put({ screens, tokens: [tokenRow(1), tokenRow(2, { tenantId: null })] });
    assert.deepEqual(await ids('screens', { where: { venueId: guid('venu', 1) } }), [1, 3]);
    assert.deepEqual(
      await ids('screens', {
        where: { tenantId: tenantA, venueId: guid('venu', 1), state: 'active' },
      }),
      [3],
    );
    assert.deepEqual(await ids('screens', { where: { venueId: guid('venu', 9) } }), []);
    assert.deepEqual(
      await ids('screens', {
        where: { tenantId: tenantA, venueId: [guid('venu', 0), guid('venu', 1)] },
      }),
      [1, 2, 3],
    );
    assert.deepEqual(await ids('screens', { where: { tenantId: tenantA, venueId: [] } }), []);
    assert.deepEqual(
      await ids('screens', {
        where: { tenantId: tenantA, id: [guid('scre', 3), guid('scre', 1)] },
      }),
      [1, 3],
    );
    assert.deepEqual(await ids('screens', { where: { tenantId: tenantB } }), []);
    assert.deepEqual(await ids('tokens', { where: { tenantId: null } }), [2]);
  });

  it('lists rows without a name, which match no name', async () => {
    await put({ webhooks: [sampleRow('webhooks', 1, { name: null }), sampleRow('webhooks', 2)] });
    assert.deepEqual(await ids('webhooks', {}), [1, 2]);
    assert.deepEqual(await ids('webhooks', { search: 'webhook' }), [2]);
  });

  it('filters by labels, all of which must match', async () => {
    const labels: Record<string, string>[] = [
      { floor: '1', wing: 'a' },
      { floor: '1', wing: 'b' },
      { floor: '2' },
    ];
    await put({ screens: labels.map((one, number) => screenRow(number, { labels: one })) });
    assert.deepEqual(await ids('screens', { labels: { floor: '1' } }), [0, 1]);
    assert.deepEqual(await ids('screens', { labels: { floor: '1', wing: 'b' } }), [1]);
    assert.deepEqual(await ids('screens', { labels: { constructor: '' } }), []);
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
      assert.deepEqual([text, await ids('screens', { selector })], [text, found]);
      assert.deepEqual([text, await ids('devices', { selector })], [text, found]);
    }
    const venue = { selector: parseSelector('role'), where: { venueId: venueOf(0) } };
    assert.deepEqual(await ids('devices', venue), [0, 2]);
  });

  it('finds names, whole or in part, without regard to case', async () => {
    await put({
      venues: ['Café Nord', 'café süd', 'Bar'].map((name, number) => venueRow(number, { name })),
    });
    assert.deepEqual(await ids('venues', { name: 'CAFE\u0301 NORD' }), [0]);
    assert.deepEqual(await ids('venues', { name: 'Café' }), []);
    assert.deepEqual(await ids('venues', { search: 'AFÉ' }), [0, 1]);
    assert.deepEqual(await ids('venues', { search: 'é S' }), [1]);
    assert.deepEqual(await ids('venues', { search: '%' }), []);
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
    assert.deepEqual(await ids('devices', { online: { is: true, now } }), [1, 4]);
    assert.deepEqual(await ids('devices', { online: { is: false, now } }), [2, 3, 5]);
    assert.deepEqual(await ids('devices', { online: { is: true, now: now + 1 } }), [4]);
    assert.deepEqual(await ids('devices', { online: { is: true, now }, where: { venueId } }), [4]);
  });

  it('returns a long table in pages without loss or repetition, past rows that do not match', async () => {
    const many = Array.from({ length: 2500 }, (_, number) =>
      venueRow(number, { labels: number % 500 === 7 ? { rare: 'yes' } : {} }),
    );
    await put({ venues: many });
    const query = { limit: 2, labels: { rare: 'yes' } };
    const pages = await allPages((from) => store.list('venues', { ...query, ...from }));
    assert.ok(pages.every(({ length }) => length <= 2));
    assert.deepEqual(
      pages.flat().map(({ id }) => id),
      [7, 507, 1007, 1507, 2007].map((number) => guid('venu', number)),
    );
  });
}

/** Tests of `playlistSummary` and `playlistSummaries`. */
export function playlistSummaryTests({ it, store, put }: TestGroup): void {
  const summaryOf = (row: Playlist) => {
    const { playlistId, version, state, publishedAt, validUntil, hasMedia } = row;
    const { contentId, origin } = row;
    return { playlistId, version, state, publishedAt, validUntil, hasMedia, contentId, origin };
  };

  it('returns id, version, state and times of the newest playlists', async () => {
    const ends = playlistRow(1, 1, { validUntil: 1_770_000_000_000 });
    const ended = playlistRow(2, 7, { state: 'withdrawn', publishedAt: 5 });
    await put({ playlists: [ends, ended] });
    const asked = [1, 2, 3].map((n) => guid('scre', n));
    const expected = new Map([ends, ended].map((row) => [row.id, summaryOf(row)]));
    assert.deepEqual(await store.playlistSummaries(asked), expected);
    assert.deepEqual(await store.playlistSummaries([]), new Map());
    assert.deepEqual(await store.playlistSummary(ends.id), summaryOf(ends));
    assert.equal(await store.playlistSummary(guid('scre', 3)), undefined);
    const next = { ...ended, version: 8, state: 'active' as const };
    await put({ playlists: [next] });
    await store.write((tx) => tx.delete('playlists', ends.id));
    assert.deepEqual(await store.playlistSummaries(asked), new Map([[next.id, summaryOf(next)]]));
    assert.deepEqual(await store.playlistSummary(next.id), summaryOf(next));
    assert.equal(await store.playlistSummary(ends.id), undefined);
  });
}
