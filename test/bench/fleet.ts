import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hashKey, makeKey } from '../../src/domain/api-key.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { makeIdSource } from '../../src/domain/id.ts';
import type { Device, Rows, TableName } from '../../src/domain/records/rows.ts';
import { paged } from '../../src/store/copy/paged.ts';
import {
  type Records,
  type Section,
  type StoreTarget,
  sections,
} from '../../src/store/copy/transfer.ts';
import { FolderTarget } from '../../src/store/json/copy/folder-target.ts';
import { nodeFileSystem } from '../../src/store/json/disk/file-system.ts';
import { FleetHistory, type HistorySize } from './fleet-history.ts';

const newId = makeIdSource(systemClock);
const screensPerVenue = 100;
const fixtures = new URL('../../fixtures/', import.meta.url);

/** A bound TV with its key. */
export interface BoundTv {
  tenantId: string;
  venueId: string;
  screenId: string;
  deviceId: string;
  apiKey: string;
}

function makeTvs(count: number): BoundTv[] {
  const tenantId = newId();
  const venues = Array.from({ length: Math.ceil(count / screensPerVenue) }, () => newId());
  return Array.from({ length: count }, (_, n) => {
    const venueId = venues[Math.floor(n / screensPerVenue)] as string;
    return {
      tenantId,
      venueId,
      screenId: newId(),
      deviceId: newId(),
      apiKey: makeKey('dak_', randomBytes),
    };
  });
}

type RowGenerators = { [T in TableName]?: () => Generator<Rows[T]> };

/** Returns the rows of a fleet. Each screen has a playlist of ten items. */
async function rowsOf(data: string, tvs: readonly BoundTv[], now: number): Promise<RowGenerators> {
  const deviceInfo = JSON.parse(
    await readFile(new URL('devices/samsung-tizen.json', fixtures), 'utf8'),
  ) as Device['deviceInfo'];
  const items = JSON.stringify(
    (
      JSON.parse(await readFile(new URL('playlists/retail.json', fixtures), 'utf8')) as {
        items: unknown;
      }
    ).items,
  );
  const at = { createdAt: now, updatedAt: now };
  const of = <R>(row: (tv: BoundTv, n: number) => R) =>
    function* () {
      for (const [n, tv] of tvs.entries()) yield row(tv, n);
    };
  return {
    *tenants() {
      yield { id: tvs[0]?.tenantId ?? '', name: 'default', ...at };
    },
    *venues() {
      const venues = new Map(tvs.map(({ venueId, tenantId }) => [venueId, tenantId]));
      for (const [n, [id, tenantId]] of [...venues].entries())
        yield {
          id,
          tenantId,
          name: `Venue ${n}`,
          address: null,
          timezone: null,
          labels: {},
          ...at,
        };
    },
    screens: of(({ screenId: id, tenantId, venueId, deviceId }, n) => {
      return {
        id,
        tenantId,
        venueId,
        name: `Screen ${n}`,
        labels: {},
        state: 'active',
        deviceId,
        ...at,
      } as const;
    }),
    devices: of(({ deviceId: id, tenantId, venueId, screenId }) => {
      const suspended = { suspendedAt: null, suspendReason: null };
      return {
        id,
        tenantId,
        venueId,
        screenId,
        state: 'bound',
        deviceInfo,
        createdAt: now,
        ...suspended,
      } as const;
    }),
    deviceKeys: of(({ tenantId, deviceId, screenId, apiKey }) => {
      const key = { id: newId(), tenantId, deviceId, screenId, hash: hashKey(apiKey) };
      return {
        ...key,
        state: 'active',
        createdAt: now,
        firstUsedAt: now,
        revokedAt: null,
      } as const;
    }),
    playlists: of(({ screenId, tenantId }) => {
      const playlist = { id: screenId, screenId, tenantId, playlistId: newId(), version: 1, items };
      return {
        ...playlist,
        state: 'active',
        validUntil: null,
        publishedAt: now,
        origin: 'published',
      } as const;
    }),
    // Marks the initial fill of the mirror as done.
    *mirrorTargets() {
      for (const id of ['current', 'configs'])
        yield { id, location: pathToFileURL(resolve(data, 'mirror')).href };
    },
  };
}

/** Yields the last activity of each TV. */
function* activityOf(tvs: readonly BoundTv[], now: number): Generator<Records['marks']> {
  const times = { lastSeenAt: now, lastPlaylistAt: now, lastConfigAt: now, lastEventAt: now };
  for (const [n, { deviceId: id }] of tvs.entries()) {
    const lastAddress = `192.0.2.${n % 250}`;
    yield {
      kind: 'device',
      id,
      marks: { ...times, lastAddress, lastPlaylistVersion: 1, lastPlaylistStatus: 304 },
    };
  }
}

async function copySection<S extends Section>(
  target: StoreTarget,
  section: S,
  records: Iterable<Records[S]>,
): Promise<void> {
  for await (const page of paged(records)) await target.accept(section, page);
  await target.complete(section);
}

const noHistory: HistorySize = { days: 0, eventsPerBatch: 0 };

/**
 * Fills a new data folder with bound screens and the events of their TVs. It writes like `signage
 * store copy`, which is much faster than requests to a service.
 */
export async function fillWithFleet(
  data: string,
  screens: number,
  size: HistorySize = noHistory,
): Promise<BoundTv[]> {
  const tvs = makeTvs(screens);
  const now = systemClock.now();
  const history = new FleetHistory(tvs, size, now);
  const generators: { [S in Section]?: () => Iterable<Records[S]> } = {
    ...(await rowsOf(data, tvs, now)),
    batches: () => history.batches(),
    idempotency: () => history.keys(),
    impressions: () => history.impressions(),
    marks: () => activityOf(tvs, now),
  };
  const context = {
    disk: nodeFileSystem,
    directory: data,
    clock: systemClock,
    lowWaterBytes: 0,
    warn: () => {},
  };
  const target = new FolderTarget(context, async () => {});
  async function* nothing() {}
  await nodeFileSystem.makeDirectory(data);
  await target.begin({
    secret: randomBytes(32),
    state: '',
    logEnd: history.end,
    chain: {},
    count: async () => 0,
    read: nothing,
    close: async () => {},
  });
  for (const section of sections)
    await copySection(
      target,
      section,
      (generators[section] as (() => Iterable<never>) | undefined)?.() ?? [],
    );
  await target.finish();
  await target.release();
  await target.close();
  return tvs;
}
