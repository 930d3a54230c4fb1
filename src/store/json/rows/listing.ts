import { foldName } from '../../../domain/fold-name.ts';
import { jsonBytes, PageItems } from '../../../domain/page-items.ts';
import {
  configIds,
  type DeviceConfig,
  effectiveConfig,
  isOnline,
} from '../../../domain/records/config.ts';
import { codeFinishedAt } from '../../../domain/records/pairing-code.ts';
import type {
  Device,
  Playlist,
  Screen,
  StoredConfig,
  Venue,
} from '../../../domain/records/rows.ts';
import { contentsOfLayers, type Layers } from '../../../domain/schedule/rows.ts';
import { matchesSelector, type Selector } from '../../../domain/selector.ts';
import type { ListQuery, PastPlaylistQuery, PlaylistSummary, Slice } from '../../queries.ts';
import { hasMembersAndLabels } from '../../row-filter.ts';
import { type ListedTable, type Rows, sections } from '../../sections.ts';
import type { LastActivityTable } from '../activity/last-activity.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import type { CommittedRows } from './committed-rows.ts';
import type { DiskRows } from './disk-rows.ts';
import { allRows, lowerBound } from './table-index.ts';

/**
 * Limits of a slice between two yields to the event loop, in rows and in milliseconds. Both are
 * needed, because the cost of a row varies: the first look-up of a device's activity indexes a
 * whole document.
 */
const sliceRows = 200;
const sliceMs = 5;

/** Divides a scan of rows into slices, with a yield to the event loop between them. */
class ScanSlices {
  #rows = 0;
  #endMs = performance.now() + sliceMs;
  readonly #signal: AbortSignal | undefined;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Counts a row. Returns whether the slice has ended. */
  isLastRow(): boolean {
    this.#rows++;
    return this.#rows === sliceRows || performance.now() >= this.#endMs;
  }

  /** Yields to the event loop, then begins the next slice. Throws if the signal has aborted. */
  async next(): Promise<void> {
    await yieldToEventLoop();
    this.#signal?.throwIfAborted();
    this.#rows = 0;
    this.#endMs = performance.now() + sliceMs;
  }
}

type Filter = (row: Record<string, unknown>) => boolean;

/** Returns one page of a table's durable rows, ordered by id. */
export async function listRows<T extends ListedTable>(
  base: CommittedRows,
  lastActivity: LastActivityTable,
  table: T,
  query: ListQuery<T>,
): Promise<Slice<Rows[T]>> {
  const filters = filtersOf(base, lastActivity, query);
  const index = narrowestIndex(base, table, query.where ?? {});
  const page = new PageItems<Rows[T]>(query.limit);
  const slices = new ScanSlices(query.signal);
  for (let after = query.after ?? ''; ; await slices.next()) {
    const ids = base.ids(table, index.member, index.value);
    let position = lowerBound(ids, after);
    if (ids[position] === after) position++;
    for (; position < ids.length; position++) {
      after = ids[position] as string;
      const row = base.row(table, after) as unknown as Rows[T];
      if (filters.every((filter) => filter(row as unknown as Record<string, unknown>))) {
        if (!page.add(row, query.isUnsized ? 0 : jsonBytes(row)))
          return { items: page.items, next: page.items.at(-1)?.id ?? null };
      }
      if (slices.isLastRow()) break;
    }
    if (position >= ids.length) return { items: page.items, next: null };
  }
}

/** Returns the summaries of the newest playlists of these screens, by the id of the screen. */
export async function listPlaylistSummaries(
  base: CommittedRows,
  screenIds: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, PlaylistSummary>> {
  const slices = new ScanSlices(signal);
  const found = new Map<string, PlaylistSummary>();
  for (const id of screenIds) {
    const summary = base.playlistSummary(id);
    if (summary) found.set(id, summary);
    if (slices.isLastRow()) await slices.next();
  }
  return found;
}

/** Returns the ids of at most `limit` codes that ended before a time, earliest end first. */
export async function listFinishedCodes(
  base: CommittedRows,
  timeMs: number,
  limit: number,
): Promise<string[]> {
  const finished: { id: string; at: number }[] = [];
  const slices = new ScanSlices();
  for (const id of base.all('codes')) {
    const at = codeFinishedAt(base.row('codes', id) as unknown as Rows['codes']);
    if (at < timeMs) finished.push({ id, at });
    if (slices.isLastRow()) await slices.next();
  }
  return finished
    .sort((one, other) => one.at - other.at)
    .slice(0, limit)
    .map((code) => code.id);
}

/** Returns one page of a screen's past versions, newest first. */
export async function listPastPlaylists(
  disk: DiskRows,
  { screenId, below, limit }: PastPlaylistQuery,
): Promise<Slice<Playlist>> {
  const rows = (await disk.select('pastPlaylists', [screenId]))
    .filter(({ version }) => version < below)
    .sort((one, other) => other.version - one.version);
  const items = rows.slice(0, limit);
  return { items, next: items.length < rows.length ? String(items.at(-1)?.version) : null };
}

/** Deletes the contents that newest versions and layers name from a set of ids. */
async function deleteNamed(base: CommittedRows, ids: Set<unknown>): Promise<void> {
  const slices = new ScanSlices();
  for (const id of ids.size > 0 ? base.all('playlists') : []) {
    ids.delete(base.playlistSummary(id)?.contentId);
    if (slices.isLastRow()) await slices.next();
  }
  for (const id of ids.size > 0 ? base.all('layers') : []) {
    const layers = base.row('layers', id) as unknown as Layers | undefined;
    for (const contentId of layers ? contentsOfLayers(layers) : []) ids.delete(contentId);
    if (slices.isLastRow()) await slices.next();
  }
}

/** Returns the contents that neither newest versions nor layers name. */
export async function supersededContents(base: CommittedRows): Promise<string[]> {
  const slices = new ScanSlices();
  const found = new Set<string>();
  for (const id of base.all('contents')) {
    found.add(id);
    if (slices.isLastRow()) await slices.next();
  }
  await deleteNamed(base, found);
  return [...found];
}

/**
 * Returns the past contents that no version and no layers name. Reads the past versions after the
 * newest ones, because a version becomes a past one, and never a newest one again.
 */
export async function unnamedContents(base: CommittedRows, disk: DiskRows): Promise<string[]> {
  const found = new Set<unknown>();
  for await (const ids of disk.values('pastContents', ({ id }) => id))
    for (const id of ids) found.add(id);
  await deleteNamed(base, found);
  if (found.size > 0)
    for await (const named of disk.values('pastPlaylists', ({ contentId }) => contentId))
      for (const id of named) found.delete(id);
  return [...found] as string[];
}

export async function endedRows(
  disk: DiskRows,
  table: 'pastInputs' | 'loops',
  timeMs: number,
): Promise<string[]> {
  const ids: string[] = [];
  const endedId = ({ id, until }: Rows[typeof table]) => (until < timeMs ? id : undefined);
  for await (const found of disk.values(table, endedId))
    for (const id of found) if (id !== undefined && (await disk.get(table, id))) ids.push(id);
  return ids;
}

/** Returns the index with the fewest candidates. */
function narrowestIndex(
  base: CommittedRows,
  table: ListedTable,
  where: object,
): { member: string; value: string } {
  const indexed: readonly string[] = sections[table].indexed;
  let best = { member: allRows, value: allRows };
  for (const [member, value] of Object.entries(where)) {
    if (typeof value !== 'string' || !indexed.includes(member)) continue;
    if (base.ids(table, member, value).length < base.ids(table, best.member, best.value).length)
      best = { member, value };
  }
  return best;
}

function filtersOf<T extends ListedTable>(
  base: CommittedRows,
  lastActivity: LastActivityTable,
  query: ListQuery<T>,
): Filter[] {
  const { selector, name, search, online } = query;
  const filters: Filter[] = [(row) => hasMembersAndLabels(row, query)];
  const nameOf = (row: Record<string, unknown>) =>
    typeof row.name === 'string' ? foldName(row.name) : undefined;
  if (name !== undefined) filters.push((row) => nameOf(row) === foldName(name));
  if (search !== undefined) filters.push((row) => nameOf(row)?.includes(foldName(search)) === true);
  if (selector) filters.push(selectorFilter(base, selector));
  if (online) {
    filters.push(
      (row) => isOnlineAt(base, lastActivity, row as unknown as Device, online.now) === online.is,
    );
  }
  return filters;
}

/** Returns a filter for screens or devices by the labels of the screen and of its venue. */
function selectorFilter(base: CommittedRows, selector: Selector): Filter {
  const labelsOf = (table: 'screens' | 'venues', id: unknown) =>
    (base.row(table, id as string) as Screen | Venue | undefined)?.labels ?? {};
  const usesVenues = selector.some(({ of }) => of === 'venue');
  return ({ id, screenId = id, venueId }) =>
    matchesSelector(
      selector,
      labelsOf('screens', screenId),
      usesVenues ? labelsOf('venues', venueId) : {},
    );
}

function isOnlineAt(
  base: CommittedRows,
  lastActivity: LastActivityTable,
  device: Device,
  nowMs: number,
): boolean {
  const { lastSeenAt } = lastActivity.marks('device', device.id);
  return isOnline(device.state, lastSeenAt, configOf(base, device), nowMs);
}

function configOf(base: CommittedRows, device: Device): DeviceConfig {
  return effectiveConfig(
    configIds(device).map((id) => (base.row('configs', id) as StoredConfig | undefined)?.config),
  );
}
