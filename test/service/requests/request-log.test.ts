import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeIdSource } from '../../../src/domain/id.ts';
import { silentLog } from '../../../src/domain/log.ts';
import type {
  RequestPlace,
  ServiceDependencies,
  TenantPrincipal,
} from '../../../src/service/context.ts';
import type { RecentRequest } from '../../../src/service/requests/recent-requests.ts';
import { makeTvRequests } from '../../../src/service/requests/request-log.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { LoggedTvRequest } from '../../../src/store/queries.ts';
import type { RefusedRequests, Store } from '../../../src/store/store.ts';
import { gate } from '../../../src/testing/store-suite/store-test.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';

const screenId = '0190a5b4-6f00-7c3e-9d2a-000000000001';
const deviceId = '0190a5b4-6f00-7c3e-9d2a-000000000002';
const stranger: RequestPlace = { tenantId: 't', venueId: 'v', screenId, id: null };
const device: RequestPlace = { ...stranger, id: deviceId };
const principal = { tenantId: 't', venueIds: null } as TenantPrincipal;

let clock: ManualClock;
let store: Store;
let batches: (readonly LoggedTvRequest[])[];
/** Runs during each look-up of a screen. */
let onLookUp: () => void;
/** What each append waits for. */
let appending: Promise<void>;
let warnings: unknown[];
let log: ReturnType<typeof makeTvRequests>;

beforeEach(async () => {
  clock = new ManualClock();
  store = await openStore('memory:', { clock: new ManualClock() });
  batches = [];
  warnings = [];
  onLookUp = () => {};
  appending = Promise.resolve();
  const refusedRequests: RefusedRequests = {
    async append(batch) {
      batches.push(batch);
      await appending;
    },
    page: async () => [],
  };
  const get: Store['read']['get'] = async (table, id) => {
    onLookUp();
    return table === 'screens' && id === screenId
      ? ({ id, tenantId: 't', venueId: 'v' } as never)
      : undefined;
  };
  const deps: ServiceDependencies = {
    store: decorateStore(store, { refusedRequests, read: decorateStore(store.read, { get }) }),
    clock,
    random: (length) => new Uint8Array(length),
    newId: makeIdSource(clock),
    write: () => Promise.reject(new Error('Nothing is written.')),
  };
  log = makeTvRequests(deps, {
    ...silentLog,
    warn: ({ err }) => void warnings.push(err),
  });
});
afterEach(() => store.close());

const refused = (): RecentRequest => ({
  at: clock.now(),
  operation: 'getPlaylist',
  status: 401,
  code: 'device_key_invalid',
  detail: null,
  faults: [],
  requestId: 'request',
  sequence: 0,
});
const flood = (place: RequestPlace) => {
  for (let n = 0; n < 10; n++) log.record({ place }, refused());
};
const list = () => log.list(principal, { limit: 200 });
const sizes = () => batches.map((batch) => batch.length);

it('shares at most 5 of a screen per flush, also of those that arrive during it', async () => {
  let arrived = false;
  onLookUp = () => {
    if (!arrived) flood(stranger);
    arrived = true;
  };
  flood(stranger);
  log.record({ namedId: screenId }, refused());
  clock.advance(1000);
  await list();
  for (const size of sizes()) expect(size).toBeLessThanOrEqual(5);
});

it('shares at most 5 per second however often requests are listed', async () => {
  for (let n = 0; n < 10; n++) {
    flood(stranger);
    await list();
  }
  expect(batches.flat()).toHaveLength(5);
  clock.advance(1000);
  await list();
  flood(stranger);
  await list();
  expect(batches.flat()).toHaveLength(10);
  expect(log.droppedCount()).toBe(100);
});

it('shares the requests of a device beside those of unknown devices of its screen', async () => {
  flood(stranger);
  flood(device);
  await list();
  const ids = batches.flat().map(({ request }) => request.deviceId);
  expect(ids.filter((id) => id === deviceId)).toHaveLength(5);
  expect(ids.filter((id) => id === null)).toHaveLength(5);
});

it('writes once for many lists at the same moment', async () => {
  const { open: finish, opened } = gate();
  appending = opened;
  flood(stranger);
  const first = list();
  await expect.poll(() => batches.length).toBe(1);
  flood(device);
  const others = Array.from({ length: 20 }, list);
  finish();
  await Promise.all([first, ...others]);
  expect(sizes()).toEqual([5, 5]);
});

it('counts and drops requests while the store fails, and warns once per run of failures', async () => {
  const failure = new Error('The database is gone.');
  onLookUp = () => {
    throw failure;
  };
  appending = Promise.reject(failure);
  appending.catch(() => {});
  const flush = async () => {
    log.record({ namedId: screenId }, refused());
    log.record({ place: device }, refused());
    clock.advance(1000);
    await list();
  };
  for (let n = 0; n < 3; n++) await flush();
  expect(warnings).toEqual([failure, failure]);
  expect(log.droppedCount()).toBe(6);
  onLookUp = () => {};
  appending = Promise.resolve();
  await flush();
  expect(log.droppedCount()).toBe(6);
  onLookUp = () => {
    throw failure;
  };
  await flush();
  expect(warnings).toHaveLength(3);
  expect(log.droppedCount()).toBe(7);
});
