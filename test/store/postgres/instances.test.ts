import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GuessCounter } from '../../../src/domain/records/pairing-code.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { GuessCounterChange, Store, Tx } from '../../../src/store/store.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { batchOf, guid, impression, tenantA } from '../sample-batch.ts';
import { codeRow, deviceKeyRow, playlistRow, venueRow } from '../sample-rows.ts';

let url: string;
let stores: Store[];
beforeAll(async () => {
  url = await freshDatabase();
});
beforeEach(async () => {
  await emptyDatabase(url);
  stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

const at = (place: number) => stores[place % stores.length] as Store;
const once: GuessCounter = {
  times: [1],
  waitUntil: 0,
  waitMs: 0,
  forgetAt: Number.MAX_SAFE_INTEGER,
};
const look: GuessCounterChange<unknown> = (attempts) => ({ attempts, result: attempts });
const times = (count: number) => Array.from({ length: count }, (_, place) => place);

describe('three instances on one database', () => {
  it('serialize changes: 60 concurrent increments of one number', async () => {
    await at(0).write((tx) => tx.put('playlists', playlistRow(1, 0)));
    const raise = async (tx: Tx) => {
      const row = await tx.get('playlists', guid('scre', 1));
      await tx.put('playlists', { ...row!, version: row!.version + 1 });
      return row!.version;
    };
    const seen = await Promise.all(times(60).map((place) => at(place).write(raise)));
    expect(seen.toSorted((a, b) => a - b)).toEqual(times(60));
    for (const store of stores)
      expect((await store.read.get('playlists', guid('scre', 1)))?.version).toBe(60);
  });

  it('let one of 30 concurrent claims of a name succeed, and give the others the id of its row', async () => {
    const racers = times(30).map((place) =>
      at(place).write((tx) => tx.put('venues', venueRow(place, { name: 'Wanted' }))),
    );
    const results = await Promise.allSettled(racers);
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    const others = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    expect(others).toHaveLength(29);
    for (const error of others)
      expect(error).toMatchObject({ code: 'conflict', existingId: guid('venu', winner) });
  });

  it('see changes of another instance at once', async () => {
    await at(0).write((tx) => tx.put('deviceKeys', deviceKeyRow(1)));
    expect((await at(1).read.find('deviceKeys', 'hash', 'key 1'))?.state).toBe('active');
    await at(2).write((tx) => tx.put('deviceKeys', deviceKeyRow(1, { state: 'revoked' })));
    expect((await at(1).read.find('deviceKeys', 'hash', 'key 1'))?.state).toBe('revoked');
  });

  it('store a batch once that all receive concurrently with one key', async () => {
    const answers = await Promise.all(
      times(30).map((place) => at(place).appendBatch(batchOf([impression(1)], { key: 'one' }))),
    );
    expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'repeated')).toHaveLength(29);
    const report = await at(0).impressions({ tenantId: tenantA, groupBy: 'day', by: 'timestamp' });
    expect(report).toEqual([{ key: '1970-01-01', impressions: 1, seconds: 0 }]);
  });

  it('return every event once to a follower, in the order of ids, whichever instance stored it', async () => {
    const count = 90;
    const seen: { id: string; n: unknown }[] = [];
    const follow = async () => {
      for (let after: string | undefined; seen.length < count; ) {
        const query = {
          tenantId: tenantA,
          order: 'asc' as const,
          limit: 7,
          ...(after === undefined ? {} : { after }),
        };
        const { items } = await at(0).events(query);
        seen.push(...items.map(({ id, event }) => ({ id, n: event.n })));
        after = seen.at(-1)?.id;
      }
    };
    const post = async (place: number) => {
      for (const turn of times(count / 6)) {
        const batch = batchOf(
          [0, 1].map((n) => ({ type: 'log', timestamp: 1, n: place * 1000 + turn * 2 + n })),
        );
        await at(place).appendBatch(batch);
      }
    };
    await Promise.all([follow(), ...times(3).map(post)]);
    expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted());
    const wanted = times(3).flatMap((place) => times(count / 3).map((n) => place * 1000 + n));
    expect(seen.map(({ n }) => n as number).toSorted((a, b) => a - b)).toEqual(wanted);
  });

  it('wake each other’s watchers', async () => {
    const woken = (topic: string) =>
      new Promise<string>((resolve) => void at(1).watch(topic, resolve));
    const changes = [woken('codes/code-0001'), woken(`events/${tenantA}`)];
    await at(0).write((tx) => tx.put('codes', codeRow(1)));
    await at(2).appendBatch(batchOf([impression(1)]));
    await Promise.all(changes);
  });

  it('wake their watchers by polling behind a pooler, where LISTEN does not work', async () => {
    const pooled = await openStore(`${url}?prepare=false`);
    stores.push(pooled);
    await pooled.write((tx) => tx.put('codes', codeRow(1)));
    const woken = new Promise<string>((resolve) => void pooled.watch('codes/code-0001', resolve));
    await at(0).write((tx) => tx.put('codes', codeRow(1, { state: 'used' })));
    await woken;
    await expect
      .poll(async () => (await pooled.read.get('codes', 'code-0001'))?.state)
      .toBe('used');
  });

  it('leave nothing in a pooled session: no prepared statement, no setting, no LISTEN', async () => {
    // A prepared statement has a name. In PostgreSQL's protocol, `Parse` is `P`, a length of four
    // bytes, the name and a zero.
    const kept = /P[\s\S]{4}s\d+\0|LISTEN|statement_timeout|lock_timeout|session_timeout/g;
    const keptBy = async (search: string) => {
      let asked = '';
      const proxy = await databaseProxy(url, (bytes) => {
        asked += bytes.toString('latin1');
      });
      const store = await openStore(proxy.url + search);
      stores.push(store);
      await store.write((tx) => tx.put('codes', codeRow(1)));
      await store.appendBatch(batchOf([impression(1)]));
      expect(await store.read.get('codes', 'code-0001')).toBeDefined();
      return new Set(asked.match(kept)?.map((text) => text.replaceAll(/[^a-zA-Z_]/g, '')));
    };
    expect(await keptBy('?prepare=false')).toEqual(new Set());
    const all = await keptBy('');
    for (const one of ['LISTEN', 'statement_timeout', 'lock_timeout', 'session_timeout'])
      expect(all).toContain(one);
    expect([...all].some((one) => /^P.*s$/.test(one))).toBe(true);
  });

  it('count impressions once if several instances fold concurrently', async () => {
    await Promise.all(
      times(60).map((place) =>
        at(place).appendBatch(batchOf([impression(0, { duration: 0.5 }), impression(0)])),
      ),
    );
    const reports = await Promise.all(
      times(12).map((place) =>
        at(place).impressions({ tenantId: tenantA, groupBy: 'campaign', by: 'received' }),
      ),
    );
    for (const report of reports)
      expect(report).toEqual([{ key: guid('camp', 1), impressions: 120, seconds: 30 }]);
  });

  it('serialize changes of guess counters, and change several at once without deadlocks', async () => {
    const attempt: GuessCounterChange<number[]> = (known) => {
      const attempts = known.map((one) => ({
        ...once,
        times: [...(one?.times ?? []), 1],
        forgetAt: 1,
      }));
      return { attempts, result: attempts.map(({ times }) => times.length) };
    };
    const results = await Promise.all(
      times(30).map((place) => at(place).updateGuessCounters(['192.0.2.1'], attempt)),
    );
    expect(results.flat().toSorted((a, b) => a - b)).toEqual(times(30).map((n) => n + 1));
    expect(await at(0).updateGuessCounters(['192.0.2.2'], attempt)).toEqual([1]);
    const both = await Promise.all(
      times(30).map((place) =>
        at(place).updateGuessCounters(place % 2 ? ['x', '*'] : ['*', 'y'], attempt),
      ),
    );
    expect(
      both
        .map(([one, other], place) => (place % 2 ? other : one) as number)
        .toSorted((a, b) => a - b),
    ).toEqual(times(30).map((n) => n + 1));
  });

  it('store nothing of a guess counter change that throws on its retry', async () => {
    let runs = 0;
    const changing = at(0).updateGuessCounters(['192.0.2.1', '*'], () => {
      if (++runs > 1) throw new Error('no');
      return { attempts: [once, once], result: 'changed' };
    });
    await expect(changing).rejects.toThrow('no');
    expect(await at(1).updateGuessCounters(['192.0.2.1', '*'], look)).toEqual([
      undefined,
      undefined,
    ]);
    expect(
      await at(0).updateGuessCounters(['*'], () => ({ attempts: [once], result: 'changed' })),
    ).toBe('changed');
  });

  it('do not wait for another instance if they change no guess counter', async () => {
    await at(0).updateGuessCounters(['*'], () => ({ attempts: [once], result: undefined }));
    const changing = await inDatabase(url, async (sql) => {
      await sql('BEGIN');
      await sql("SELECT FROM signage.attempts WHERE source = '*' FOR UPDATE");
      const waiting = at(1).updateGuessCounters(['*'], () => ({
        attempts: [{ ...once, times: [1, 2] }],
        result: 'changed',
      }));
      expect(await at(1).updateGuessCounters(['*', '192.0.2.1'], look)).toEqual([once, undefined]);
      await sql('COMMIT');
      return waiting;
    });
    expect(changing).toBe('changed');
  });
});

describe('the activity of devices', () => {
  const device = guid('devi', 1);
  const open = async (clock: ManualClock) => {
    const store = await openStore(url, { clock });
    stores.push(store);
    return store;
  };

  it('is visible to other instances within a minute, and the latest of both wins', async () => {
    const [clock, otherClock] = [new ManualClock(), new ManualClock()];
    const [store, other] = [await open(clock), await open(otherClock)];
    other.touch('device', device, { lastSeenAt: 3000, lastAddress: '192.0.2.3', lastConfigAt: 10 });
    store.touch('device', device, {
      lastSeenAt: 2000,
      lastAddress: '192.0.2.2',
      lastPlaylistAt: 2000,
      lastPlaylistVersion: 7,
    });
    expect(await at(0).marks('device', device)).toEqual({});
    for (const one of [otherClock, clock]) one.advance(60_000);
    const latest = {
      lastSeenAt: 3000,
      lastAddress: '192.0.2.3',
      lastConfigAt: 10,
      lastPlaylistAt: 2000,
      lastPlaylistVersion: 7,
    };
    await expect.poll(() => at(0).marks('device', device)).toMatchObject(latest);
    for (const one of [store, other])
      expect(await one.marks('device', device)).toMatchObject(latest);
  });

  it('is deleted with the device or token', async () => {
    at(0).touch('device', device, { lastSeenAt: 1 });
    at(0).touch('token', guid('toke', 1), { lastUsedAt: 1 });
    await at(0).close();
    await at(1).write(async (tx) => {
      await tx.delete('devices', device);
      await tx.delete('tokens', guid('toke', 1));
    });
    expect(await at(1).marks('device', device)).toEqual({});
    expect(await at(1).marks('token', guid('toke', 1))).toEqual({});
  });

  it('is stored for many devices at once', async () => {
    for (const n of times(1200)) at(0).touch('device', guid('devi', n), { lastSeenAt: n });
    await at(0).close();
    const [found] = await inDatabase(url, (sql) =>
      sql(
        'SELECT count(*)::integer AS found, max(last_seen_at)::integer AS latest FROM signage.marks',
      ),
    );
    expect(found).toEqual({ found: 1200, latest: 1199 });
  });
});
