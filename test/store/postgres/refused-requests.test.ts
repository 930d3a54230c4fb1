import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { connectTo } from '../../../src/store/postgres/connection/connect.ts';
import { Database } from '../../../src/store/postgres/connection/database.ts';
import { RefusedRequestsTable } from '../../../src/store/postgres/refused-requests.ts';
import type { LoggedTvRequest } from '../../../src/store/queries.ts';
import type { RefusedRequests, Store } from '../../../src/store/store.ts';
import { inDatabase } from '../../support/postgres/in-database.ts';
import { emptyDatabase, freshDatabase } from '../../support/postgres/postgres.ts';
import { guid, tenantA, tenantB } from '../sample-batch.ts';

let url: string;
let stores: Store[];
beforeAll(async () => {
  url = await freshDatabase();
});
beforeEach(async () => {
  await emptyDatabase(url);
  stores = await Promise.all([1, 2].map(() => openStore(url)));
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

const limits = { poolSize: 1, statementTimeoutMs: 10_000, lockTimeoutMs: 10_000 };
const startMs = Date.UTC(2026, 10, 20, 12);
const tableOf = (instance: number) => stores[instance]?.refusedRequests as RefusedRequests;

function refused(n: number, more: Partial<LoggedTvRequest> = {}): LoggedTvRequest {
  const request = {
    id: guid('0000', n),
    at: new Date(startMs + n).toISOString(),
    operation: 'getPlaylist',
    status: 401,
    code: 'device_key_revoked',
    detail: `Nothing\0to\ud800see`,
    faults: [],
    deviceId: n % 2 === 0 ? guid('devi', n) : null,
    screenId: guid('scre', n),
    requestId: `request ${n}`,
  };
  return { tenantId: tenantA, venueId: guid('venu', n % 2), request, ...more };
}
const numbers = (found: readonly LoggedTvRequest[]) =>
  found.map(({ request }) => Number(request.requestId.split(' ')[1]));

describe('refused requests on PostgreSQL', () => {
  it('are listed by every instance, newest first, as they were appended', async () => {
    await tableOf(0).append([refused(1), refused(2)]);
    await tableOf(1).append([refused(3)]);
    for (const instance of [0, 1]) {
      const found = await tableOf(instance).page({ tenantId: tenantA, limit: 10 });
      expect(numbers(found)).toEqual([3, 2, 1]);
      expect(found[2]).toEqual(refused(1));
    }
  });

  it('are found by tenant, venue, screen, device, time and page', async () => {
    const other = { tenantId: tenantB };
    await tableOf(0).append([...[1, 2, 3, 4].map((n) => refused(n)), refused(5, other)]);
    const page = async (query: object) =>
      numbers(await tableOf(1).page({ tenantId: tenantA, limit: 10, ...query }));
    expect(await page({ venueIds: [guid('venu', 1)] })).toEqual([3, 1]);
    expect(await page({ venueIds: [] })).toEqual([]);
    expect(await page({ screenId: guid('scre', 2) })).toEqual([2]);
    expect(await page({ deviceId: guid('devi', 4) })).toEqual([4]);
    expect(await page({ from: startMs + 2, to: startMs + 4 })).toEqual([3, 2]);
    expect(await page({ limit: 2 })).toEqual([4, 3]);
    expect(await page({ after: guid('0000', 3) })).toEqual([2, 1]);
  });

  it('stay once if a batch is appended twice', async () => {
    await tableOf(0).append([refused(1)]);
    await tableOf(0).append([refused(1), refused(2)]);
    expect(numbers(await tableOf(0).page({ tenantId: tenantA, limit: 10 }))).toEqual([2, 1]);
  });

  it('are deleted beyond the newest, and not written to the write-ahead log', async () => {
    await connectTo(url, async (connect) => {
      const database = new Database(connect, limits);
      const table = new RefusedRequestsTable(database, { total: 3, perSource: 3 });
      await table.append([1, 2, 3, 4, 5].map((n) => refused(n)));
      await table.trim();
      expect(numbers(await table.page({ tenantId: tenantA, limit: 10 }))).toEqual([5, 4, 3]);
      await table.trim();
      expect(numbers(await table.page({ tenantId: tenantA, limit: 10 }))).toEqual([5, 4, 3]);
      await database.close();
    });
    const [{ kind }] = await inDatabase(url, (sql) =>
      sql(`SELECT relpersistence AS kind FROM pg_class WHERE relname = 'refused_requests'`),
    );
    expect(kind).toBe('u');
  });

  it('of one screen or device do not displace those of others', async () => {
    await connectTo(url, async (connect) => {
      const database = new Database(connect, limits);
      const table = new RefusedRequestsTable(database, { total: 8, perSource: 2 });
      const of = (n: number, screen: number, deviceId: string | null) => ({
        ...refused(n),
        request: { ...refused(n).request, screenId: guid('scre', screen), deviceId },
      });
      await table.append([of(1, 1, guid('devi', 1)), of(2, 2, null)]);
      await table.append([3, 4, 5, 6, 7, 8, 9].map((n) => of(n, 1, null)));
      await table.append([10, 11, 12].map((n) => of(n, 3, guid('devi', 3))));
      await table.trim();
      const left = await table.page({ tenantId: tenantA, limit: 20 });
      expect(numbers(left)).toEqual([12, 11, 9, 8, 2, 1]);
      await database.close();
    });
  });
});
