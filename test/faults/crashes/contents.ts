import type { Store } from '../../../src/store/store.ts';
import {
  changeRows,
  countsOf,
  entriesOf,
  type RowMap,
  sendingDevices,
  tenantA,
  universe,
} from './sample-changes.ts';

/** Comparable contents of a store. */
export interface Contents {
  rows: string;
  /** Numbers of changes from the audit trail, oldest first. */
  audited: number[];
  /** Numbers of batches, oldest first, each with its number of stored events. */
  batches: { number: number; events: number }[];
  /** Impressions by creative. */
  counted: string;
  /** What the sequence numbers of each sending device tell. */
  numbered: string;
}

const text = (rows: RowMap) =>
  JSON.stringify(
    [...rows]
      .filter(([name]) => !name.startsWith('pastPlaylists'))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
const pastText = (rows: RowMap) =>
  JSON.stringify(
    [...rows]
      .filter(([name]) => name.startsWith('pastPlaylists'))
      .map(([, row]) => row)
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  );

const numberIn = (id: string) => Number(id.slice(-6));

async function rowsOf(store: Store): Promise<string> {
  const rows: RowMap = new Map();
  for (const [table, id] of universe) {
    const row = await store.read.get(table, id);
    if (row) rows.set(`${table} ${id}`, row);
  }
  const screenIds = universe.filter(([table]) => table === 'screens').map(([, id]) => id);
  const past = await store.read.select('pastPlaylists', 'screenId', screenIds);
  return text(rows) + JSON.stringify(past);
}

/** Returns differences between lists, indexes and single reads. */
async function misfits(store: Store): Promise<string[]> {
  const wrong: string[] = [];
  for (const table of ['venues', 'screens', 'devices', 'tokens'] as const) {
    const { items } = await store.list(table, { limit: 100 });
    const known = universe.filter(([one]) => one === table).map(([, id]) => id);
    const there = [];
    for (const id of known) if (await store.read.get(table, id)) there.push(id);
    if (JSON.stringify(items.map(({ id }) => id)) !== JSON.stringify(there.sort()))
      wrong.push(`the list of ${table} differs from its rows`);
  }
  for (const [, id] of universe.filter(([table]) => table === 'deviceKeys')) {
    const key = await store.read.get('deviceKeys', id);
    if (key && (await store.read.findByKeyHash(key.hash))?.key.id !== id)
      wrong.push('a key is not found by its hash');
  }
  return wrong;
}

async function batchesOf(store: Store): Promise<Contents['batches']> {
  const { items } = await store.events({ tenantId: tenantA, order: 'asc', limit: 10_000 });
  const batches: Contents['batches'] = [];
  for (const { event } of items) {
    const last = batches.at(-1);
    if (last && last.number === event.number && event.n !== 0) last.events++;
    else batches.push({ number: event.number as number, events: 1 });
  }
  return batches;
}

async function numberedIn(store: Store): Promise<string> {
  const told = sendingDevices.map(async (deviceId) => {
    const { lastSeq, missingEvents, conflictingEvents } = await store.marks('device', deviceId);
    return lastSeq === undefined ? [] : [lastSeq, missingEvents, conflictingEvents];
  });
  return JSON.stringify(await Promise.all(told));
}

/** Reads everything. `wrong` lists internal contradictions. */
export async function contentsOf(store: Store): Promise<{ contents: Contents; wrong: string[] }> {
  const { items } = await store.audit({ tenantIds: [tenantA], limit: 10_000 });
  const [received, timestamp] = [
    await store.impressions({ tenantId: tenantA, groupBy: 'creative', by: 'received' }),
    await store.impressions({ tenantId: tenantA, groupBy: 'creative', by: 'timestamp' }),
  ].map((report) => JSON.stringify(report.map(({ key, impressions }) => [key, impressions])));
  const wrong = await misfits(store);
  if (received !== timestamp)
    wrong.push(`reports by receipt count ${received}, by time ${timestamp}`);
  const entries = items.map(({ id }) => numberIn(id)).reverse();
  const audited = [...new Set(entries)];
  for (const number of audited) {
    const found = entries.filter((one) => one === number).length;
    if (found !== entriesOf(number))
      wrong.push(`change ${number} has ${found} of ${entriesOf(number)} audit entries`);
  }
  return {
    contents: {
      rows: await rowsOf(store),
      audited,
      batches: await batchesOf(store),
      counted: received ?? '',
      numbered: await numberedIn(store),
    },
    wrong,
  };
}

const known = new Map<string, { rows: RowMap; text: string }>();

/** Returns the rows after these changes. */
export function rowsAfter(changes: readonly number[]): string {
  return stateAfter(changes).text;
}

function stateAfter(changes: readonly number[]): { rows: RowMap; text: string } {
  const name = changes.join();
  const there = known.get(name);
  if (there) return there;
  const rows: RowMap =
    changes.length === 0 ? new Map() : new Map(stateAfter(changes.slice(0, -1)).rows);
  const last = changes.at(-1);
  if (last !== undefined) changeRows(rows, last);
  const made = { rows, text: text(rows) + pastText(rows) };
  known.set(name, made);
  return made;
}

/** Returns the report after these batches. */
export function countedAfter(batches: readonly number[]): string {
  const sums = new Map<string, number>();
  for (const number of batches) {
    const { creativeId, events } = countsOf(number);
    sums.set(creativeId, (sums.get(creativeId) ?? 0) + events);
  }
  return JSON.stringify([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}
