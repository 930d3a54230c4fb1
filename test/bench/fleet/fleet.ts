import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hashKey, makeKey } from '../../../src/domain/api-key.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeIdSource } from '../../../src/domain/id.ts';
import { contentId, playlistContent } from '../../../src/domain/playlists/playlist-content.ts';
import type { Device } from '../../../src/domain/records/rows.ts';
import { type Records, type SectionName, sectionNames } from '../../../src/store/dump/records.ts';
import { nodeFileSystem } from '../../../src/store/json/disk/file-system.ts';
import { FolderTarget } from '../../../src/store/json/dump/folder-target.ts';
import type { Rows, TableName } from '../../../src/store/sections.ts';
import {
  contentRow,
  deviceKeyRow,
  deviceRow,
  playlistRow,
  screenRow,
  venueRow,
} from '../../store/sample-rows.ts';
import { FleetHistory, type HistorySize } from './fleet-history.ts';

const newId = makeIdSource(systemClock);
const screensPerVenue = 100;
const fixtures = new URL('../../../fixtures/', import.meta.url);

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

const fixture = async (name: string) => JSON.parse(await readFile(new URL(name, fixtures), 'utf8'));

/** Returns the rows of a fleet. Each screen has a playlist of ten items. */
async function rowsOf(tvs: readonly BoundTv[], now: number): Promise<RowGenerators> {
  const deviceInfo = (await fixture('devices/samsung-tizen.json')) as Device['deviceInfo'];
  const content = playlistContent((await fixture('playlists/retail.json')).items, null);
  const idOf = (tenantId: string) => contentId(tenantId, content);
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
        yield venueRow(n, { id, tenantId, ...at });
    },
    screens: of(({ screenId: id, tenantId, venueId, deviceId }, n) =>
      screenRow(n, { id, tenantId, venueId, state: 'active', deviceId, ...at }),
    ),
    devices: of(({ deviceId: id, apiKey: _, ...places }, n) =>
      deviceRow(n, { id, ...places, deviceInfo, createdAt: now }),
    ),
    deviceKeys: of(({ tenantId, deviceId, screenId, apiKey }, n) => {
      const ids = { id: newId(), tenantId, deviceId, screenId };
      const times = { createdAt: now, firstUsedAt: now, revokedAt: null };
      return deviceKeyRow(n, { ...ids, hash: hashKey(apiKey), state: 'active', ...times });
    }),
    playlists: of(({ screenId, tenantId }, n) => {
      const ids = { id: screenId, screenId, tenantId, playlistId: newId() };
      return playlistRow(n, 1, { ...ids, contentId: idOf(tenantId), publishedAt: now });
    }),
    *contents() {
      for (const [n, tenantId] of [...new Set(tvs.map((tv) => tv.tenantId))].entries())
        yield contentRow(n, { id: idOf(tenantId), tenantId, items: content.items });
    },
  };
}

/** Yields the last activity of each TV, which plays. */
function* activityOf(
  tvs: readonly BoundTv[],
  lastPlayId: string,
  now: number,
): Generator<Records['marks']> {
  const times = { lastSeenAt: now, lastPlaylistAt: now, lastConfigAt: now, lastEventAt: now };
  const plays = { lastPlayAt: now, lastPlayId, isPlayTimeGuessed: false, playsSince: now };
  const events = { lastPlayReportAt: now, playErrors: [], stoppedAt: null, clockOffsetMs: 0 };
  for (const [n, { deviceId: id }] of tvs.entries()) {
    const lastAddress = `192.0.2.${n % 250}`;
    yield {
      kind: 'device',
      id,
      ...times,
      ...plays,
      ...events,
      lastAddress,
      lastPlaylistVersion: 1,
      lastPlaylistStatus: 304,
    };
  }
}

/** Number of records written together. */
const groupRecords = 500;

async function fillSection<S extends SectionName>(
  target: FolderTarget,
  section: S,
  records: Iterable<Records[S]>,
): Promise<void> {
  let group: Records[S][] = [];
  for (const record of records) {
    group.push(record);
    if (group.length < groupRecords) continue;
    await target.accept(section, group);
    group = [];
  }
  if (group.length > 0) await target.accept(section, group);
}

const noHistory: HistorySize = { days: 0, eventsPerBatch: 0 };

/**
 * Fills a new data folder with bound screens and the events of their TVs. It writes like `signage
 * data restore`, which is much faster than requests to a service.
 */
export async function fillWithFleet(
  data: string,
  screens: number,
  size: HistorySize = noHistory,
): Promise<BoundTv[]> {
  const tvs = makeTvs(screens);
  const now = systemClock.now();
  const history = new FleetHistory(tvs, size, now);
  const { items } = await fixture('playlists/retail.json');
  const generators: { [S in SectionName]?: () => Iterable<Records[S]> } = {
    ...(await rowsOf(tvs, now)),
    batches: () => history.batches(),
    idempotency: () => history.keys(),
    plays: () => history.plays(),
    marks: () => activityOf(tvs, items[0].creativeId, now),
  };
  const context = {
    disk: nodeFileSystem,
    directory: data,
    clock: systemClock,
    lowWaterBytes: 0,
    warn: () => {},
  };
  const target = new FolderTarget(context, async () => {});
  await nodeFileSystem.makeDirectory(data);
  await target.begin({ secret: randomBytes(32).toString('hex'), log: history.end, chain: {} });
  for (const section of sectionNames())
    await fillSection(
      target,
      section,
      (generators[section] as (() => Iterable<never>) | undefined)?.() ?? [],
    );
  await target.finish();
  await target.commit();
  await target.close();
  return tvs;
}
