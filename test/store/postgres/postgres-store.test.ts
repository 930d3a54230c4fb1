import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dayMs } from '../../../src/domain/clock.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres/postgres.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { allPages } from '../../support/service/all-pages.ts';
import { batchOf, guid, impression, tenantA } from '../sample-batch.ts';
import { auditRow, deviceRow, screenRow, tenantRow, venueRow } from '../sample-rows.ts';

let url: string;
let clock: ManualClock;
let store: Store;
const warnings: string[] = [];
beforeAll(async () => {
  url = await freshDatabase();
});
beforeEach(async () => {
  await emptyDatabase(url);
  warnings.length = 0;
  clock = new ManualClock();
  store = await openStore(url, { clock, onWarning: (message) => warnings.push(message) });
});
afterEach(() => store.close());

const sql = (text: string) => inDatabase(url, (send) => send(text));
const events = async () =>
  (await store.events({ tenantId: tenantA, order: 'asc', limit: 200 })).items;
const campaigns = () =>
  store.impressions({ tenantId: tenantA, groupBy: 'campaign', by: 'received' });
const partitions = async () =>
  (
    await sql(
      `SELECT relname AS name FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1`,
    )
  ).map(({ name }) => name);

describe('the store’s time', () => {
  it('is the database’s time by default', async () => {
    expect(await store.write(async (tx) => tx.now)).toBe(clock.now());
    const own = await openStore(url);
    const [{ now }] = await sql('SELECT signage.now_ms() AS now');
    expect(Math.abs((await own.write(async (tx) => tx.now)) - Number(now))).toBeLessThan(60_000);
    await own.close();
  });

  it('follows a clock that is set back; stamps and the log never go back', async () => {
    const noon = clock.now();
    await store.appendBatch(batchOf([impression(1)]));
    await store.write(async (tx) => tx.now);
    clock.set(noon - 3 * dayMs);
    const [now, stamp] = await store.write(async (tx) => [tx.now, tx.stamp]);
    expect({ now, stamp, read: store.now() }).toEqual({
      now: noon - 3 * dayMs,
      stamp: noon,
      read: noon - 3 * dayMs,
    });
    await store.appendBatch(batchOf([impression(2)]));
    expect((await events()).map(({ receivedAt }) => receivedAt)).toEqual([noon, noon]);
  });
});

describe('the partitions of the log', () => {
  it('are created in advance, and a missing one when a batch arrives', async () => {
    expect(await partitions()).toEqual(
      expect.arrayContaining([
        'batches_20261120',
        'batches_20261121',
        'batches_20261122',
        'batches_20261123',
      ]),
    );
    clock.set(clock.now() + 40 * dayMs);
    expect(await store.appendBatch(batchOf([impression(1)], { key: 'one' }))).toBe('stored');
    expect(await partitions()).toContain('batches_20261230');
    expect(await events()).toHaveLength(1);
  });

  it('are dropped by retention; reports still count them, and idempotency keys stay', async () => {
    const day = clock.now();
    for (const days of [0, 1, 2]) {
      clock.set(day + days * dayMs);
      await store.appendBatch(
        batchOf([impression(days, { duration: 2 }), impression(days)], { key: `key ${days}` }),
      );
      await store.write((tx) => tx.audit(auditRow(days, { at: clock.now() })));
    }
    await store.purgeBefore(day + dayMs);
    expect((await events()).map(({ receivedAt }) => receivedAt)).toEqual(
      [1, 1, 2, 2].map((days) => day + days * dayMs),
    );
    expect(
      (await store.audit({ tenantIds: [tenantA], limit: 10 })).items.map(({ id }) => id),
    ).toEqual([guid('audi', 2), guid('audi', 1)]);
    expect(await partitions()).not.toContain('batches_20261120');
    const report = [{ key: guid('camp', 1), impressions: 6, seconds: 6 }];
    expect(await campaigns()).toEqual(report);
    expect(
      await store.appendBatch(
        batchOf([impression(0, { duration: 2 }), impression(0)], { key: 'key 0' }),
      ),
    ).toBe('repeated');
    await store.purgeBefore(day + dayMs);
    await store.purgeBefore(day + 30 * dayMs);
    expect(await events()).toEqual([]);
    await store.appendBatch(batchOf([impression(9)]));
    expect(await events()).toHaveLength(1);
    expect(await campaigns()).toMatchObject([{ impressions: 7 }]);
  });
});

describe('during a long read of the whole database, such as pg_dump', () => {
  it('changes succeed, even after conflicts, and batches are stored; partitions stay until it ends', async () => {
    const day = clock.now();
    await store.appendBatch(batchOf([impression(1)]));
    await inDatabase(url, async (send) => {
      await send('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await send('SELECT count(*) FROM signage.turn, signage.batches');
      const raise = async (tx: Tx) => {
        const row = await tx.get('venues', guid('venu', 1));
        await tx.put('venues', venueRow(1, { updatedAt: (row?.updatedAt ?? 0) + 1 }));
      };
      await store.write((tx) => tx.put('venues', venueRow(1, { updatedAt: 0 })));
      await Promise.all(Array.from({ length: 40 }, () => store.write(raise)));
      expect((await store.read.get('venues', guid('venu', 1)))?.updatedAt).toBe(40);
      clock.set(day + 2 * dayMs);
      await store.purgeBefore(day + dayMs);
      expect(await partitions()).toContain('batches_20261120');
      expect(await store.appendBatch(batchOf([impression(2)]))).toBe('stored');
    });
    await store.purgeBefore(day + dayMs);
    expect(await partitions()).not.toContain('batches_20261120');
    expect(await events()).toHaveLength(1);
  });
});

describe('a partition that cannot be dropped', () => {
  it('rejects, and stays', async () => {
    await sql('CREATE VIEW signage.kept AS SELECT * FROM signage.batches_20261120');
    await expect(store.purgeBefore(clock.now() + dayMs)).rejects.toThrow('batches_20261120');
    expect(await partitions()).toContain('batches_20261120');
    await sql('DROP VIEW signage.kept');
  });
});

describe('the background jobs', () => {
  it('fold impressions into the roll-ups, and delete expired guess counters', async () => {
    await store.appendBatch(batchOf([impression(1)]));
    await store.updateGuessCounters(['192.0.2.1'], () => ({
      attempts: [{ times: [1], waitUntil: 0, waitMs: 0, forgetAt: clock.now() + 1000 }],
      result: 1,
    }));
    clock.advance(61_000);
    await expect
      .poll(async () => (await sql('SELECT count(*)::integer AS found FROM signage.rollups'))[0])
      .toEqual({ found: 20 });
    await expect.poll(() => sql('SELECT source FROM signage.attempts')).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('delete expired guess counters without waiting for a locked one', async () => {
    const counter = { times: [1], waitUntil: 0, waitMs: 0, forgetAt: clock.now() + 1000 };
    const sources = ['192.0.2.1', '192.0.2.2'];
    await store.updateGuessCounters(sources, () => ({ attempts: [counter, counter], result: 1 }));
    const stored = () => sql('SELECT source FROM signage.attempts');
    await inDatabase(url, async (send) => {
      await send('BEGIN');
      await send(`SELECT * FROM signage.attempts WHERE source = '192.0.2.1' FOR UPDATE`);
      clock.advance(61_000);
      await expect.poll(stored).toEqual([{ source: '192.0.2.1' }]);
      await send('ROLLBACK');
    });
  });

  it('log a failure, and run again the next time', async () => {
    await store.appendBatch(batchOf([impression(1)]));
    await sql('ALTER TABLE signage.rollups RENAME TO elsewhere');
    clock.advance(6000);
    await expect.poll(() => warnings).toEqual([expect.stringContaining('Adding up impressions')]);
    await sql('ALTER TABLE signage.elsewhere RENAME TO rollups');
    const folded = async () => {
      clock.advance(6000);
      return (await sql('SELECT count(*)::integer AS found FROM signage.rollups'))[0]?.found;
    };
    await expect.poll(folded).toBe(20);
  });
});

describe('text that PostgreSQL cannot store', () => {
  const odd = 'nul \0, half \ud83d, "quoted" \\ \u2028 é 𝄞';

  it('is kept unchanged in rows, and matches label filters', async () => {
    const device = deviceRow(1, {
      suspendReason: odd,
      deviceInfo: { ...deviceRow(1).deviceInfo, model: odd },
    });
    const screens = [
      screenRow(1, { labels: { [odd]: odd } }),
      screenRow(2, { labels: { [odd]: odd.replace('\ud83d', '\ufffd') } }),
    ];
    const entry = auditRow(1, { details: { odd }, action: odd });
    await store.write(async (tx) => {
      await tx.put('devices', device);
      for (const screen of screens) await tx.put('screens', screen);
      await tx.audit(entry);
    });
    expect(await store.read.get('devices', device.id)).toEqual(device);
    expect((await store.list('screens', { labels: { [odd]: odd }, limit: 1 })).items).toEqual([
      screens[0],
    ]);
    expect((await store.audit({ tenantIds: [tenantA], limit: 1 })).items).toEqual([entry]);
  });

  it('finds nothing if no row has it', async () => {
    await store.write((tx) => tx.put('venues', venueRow(1)));
    expect(await store.read.get('venues', odd)).toBeUndefined();
    expect(await store.read.find('venues', 'name', odd)).toBeUndefined();
    expect(await store.read.select('venues', 'tenantId', [odd])).toEqual([]);
    for (const query of [
      { search: odd },
      { name: odd },
      { where: { name: odd } },
      { where: { tenantId: odd } },
      { labels: { [odd]: odd } },
    ]) {
      expect((await store.list('venues', { ...query, limit: 10 })).items).toEqual([]);
    }
    expect((await store.audit({ tenantIds: [odd], action: odd, limit: 10 })).items).toEqual([]);
  });

  it('is kept byte for byte in events, with the order of their members', async () => {
    const body = `[{"type":"log","timestamp":1,"text":"\\u0000 \\ud83d é 𝄞","z":1.50,"a":1e3}]`;
    await store.appendBatch({ ...batchOf(JSON.parse(body)), body: Buffer.from(body) });
    expect(await sql('SELECT body FROM signage.batches')).toEqual([{ body }]);
    expect((await events())[0]?.event).toEqual({
      type: 'log',
      timestamp: 1,
      text: '\0 \ud83d é 𝄞',
      z: 1.5,
      a: 1000,
    });
  });
});

describe('pages of events of one type', () => {
  it('end after many batches without a match, and continue from there', {
    timeout: 60_000,
  }, async () => {
    await store.appendBatch(batchOf([impression(1), { type: 'rare', timestamp: 1, n: 1 }]));
    // As 20,010 typical batches would have left it.
    await sql(`INSERT INTO signage.batches
      SELECT received_at, seq + n, tenant_id, venue_id, screen_id, device_id, '{log}', NULL, '[{"type":"log","timestamp":1}]'
      FROM signage.batches, generate_series(1, 20010) AS n; UPDATE signage.log_head SET seq = 20011`);
    await store.appendBatch(batchOf([{ type: 'rare', timestamp: 1, n: 2 }]));
    for (const order of ['asc', 'desc'] as const) {
      const query = { tenantId: tenantA, type: 'rare', order, limit: 10 };
      const all = await allPages((more) => store.events({ ...query, ...more }));
      const pages = all.map(({ items }) => items.map(({ event }) => event.n));
      expect(pages).toEqual(order === 'asc' ? [[1], [2]] : [[2], [1]]);
    }
  });
});

describe('a change with repeated conflicts', () => {
  it('unavailable in the end, and nothing is changed', async () => {
    await store.write((tx) => tx.put('venues', venueRow(1)));
    let tries = 0;
    const change = store.write(async (tx) => {
      await tx.get('venues', guid('venu', 1));
      // A client that does not take the lock.
      await sql(`UPDATE signage.venues SET folded = '${++tries}'`);
      await tx.put('venues', venueRow(1, { name: 'Mine' }));
    });
    await expect(change).rejects.toMatchObject({ code: 'unavailable' });
    expect(tries).toBeGreaterThan(5);
    expect((await store.read.get('venues', guid('venu', 1)))?.name).toBe('Venue 1');
  });

  it('succeeds once it holds the exclusive lock', async () => {
    await store.write((tx) => tx.put('venues', venueRow(1)));
    let tries = 0;
    await store.write(async (tx) => {
      await tx.get('venues', guid('venu', 1));
      if (++tries < 8) await sql(`UPDATE signage.venues SET folded = '${tries}'`);
      await tx.put('venues', venueRow(1, { name: 'Mine' }));
    });
    expect(tries).toBe(8);
    expect((await store.read.get('venues', guid('venu', 1)))?.name).toBe('Mine');
  });
});

describe('a change that the database rejects', () => {
  it('fails alone, without the other changes of its group', async () => {
    // Too long for an index entry, and not compressible.
    const long = randomBytes(8000).toString('hex');
    const rows = [venueRow(1), venueRow(2, { id: long }), venueRow(3)];
    const made = await Promise.allSettled(
      rows.map((row) => store.write((tx) => tx.put('venues', row))),
    );
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await store.list('venues', { limit: 10 })).items).toEqual([venueRow(1), venueRow(3)]);
  });

  it('because of the isolation level leaves everything unchanged', async () => {
    const database = new URL(url).pathname.slice(1);
    await sql(`ALTER DATABASE ${database} SET default_transaction_isolation = 'repeatable read'`);
    const shared = await openStore(`${url}?prepare=false`);
    await expect(shared.write((tx) => tx.put('venues', venueRow(1)))).rejects.toThrow(
      'READ COMMITTED',
    );
    await shared.close();
    await sql(`ALTER DATABASE ${database} RESET default_transaction_isolation`);
    expect(await store.read.get('venues', guid('venu', 1))).toBeUndefined();
  });
});

describe('a change that counts', () => {
  it('is retried if the count has changed', async () => {
    await store.write((tx) => tx.put('venues', venueRow(1)));
    const counts: number[] = [];
    await store.write(async (tx) => {
      counts.push(await tx.count('venues', 'tenantId', tenantA));
      if (counts.length === 1) await store.write((other) => other.put('venues', venueRow(2)));
      await tx.put('tenants', tenantRow(9, { name: `Has ${counts.at(-1)}` }));
    });
    expect(counts).toEqual([1, 2]);
    expect((await store.list('tenants', { limit: 10 })).items.map(({ name }) => name)).toEqual([
      'Has 2',
    ]);
  });
});

describe('a failed statement whose error the change ignores', () => {
  it('fails the change', async () => {
    const change = store.write(async (tx) => {
      await tx.put('venues', venueRow(1));
      await sql('ALTER TABLE signage.tenants RENAME TO elsewhere');
      await Promise.resolve(tx.get('tenants', guid('tena', 1))).catch(() => undefined);
    });
    await expect(change).rejects.toThrow('tenants');
    await sql('ALTER TABLE signage.elsewhere RENAME TO tenants');
    expect(await store.read.get('venues', guid('venu', 1))).toBeUndefined();
  });
});

describe('concurrent large batches', () => {
  it('are all stored', async () => {
    const large = (n: number) =>
      batchOf(
        Array.from({ length: 100 }, () => ({
          type: 'log',
          timestamp: 1,
          n,
          text: 'x'.repeat(8000),
        })),
      );
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, n) => store.appendBatch(large(n))),
    );
    expect(answers).toEqual(Array(14).fill('stored'));
    const { items, next } = await store.events({ tenantId: tenantA, order: 'asc', limit: 200 });
    // In any order, each batch is complete.
    expect([items.length, next]).toEqual([130, items.at(-1)?.id]);
    expect(new Set(items.slice(0, 100).map(({ event }) => event.n)).size).toBe(1);
  });
});

describe('a database with an unexpected schema', () => {
  it('store_unusable, with the reason, and no connection stays open', async () => {
    const broken = await freshDatabase();
    await inDatabase(broken, (send) => send('DROP FUNCTION signage.add_days'));
    await expect(openStore(broken)).rejects.toMatchObject({
      code: 'store_unusable',
      message: expect.stringContaining('add_days'),
    });
    const left = () =>
      inDatabase(broken, (send) =>
        send(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'signage'`,
        ),
      );
    await expect.poll(left).toEqual([]);
  });
});
