import { foldName } from '../../../domain/fields.ts';
import { jsonBytes, PageRoom } from '../../../domain/page-room.ts';
import {
  configIds,
  type DeviceConfig,
  effectiveConfig,
  isOnline,
} from '../../../domain/records/config.ts';
import { codeFinishedAt } from '../../../domain/records/pairing-code.ts';
import type { Device, Rows, StoredConfig } from '../../../domain/records/rows.ts';
import type { ListedTable, ListQuery, Slice } from '../../store.ts';
import { tables } from '../../tables.ts';
import { yieldToEventLoop } from '../disk/yield.ts';
import type { LastActivityPart } from '../parts.ts';
import type { CommittedRows } from './layer.ts';
import { allRows, lowerBound } from './table-index.ts';

/** Rows looked at before others get their turn, or fewer: the first look at a device's notes finds those of all that are in the same document. */
const sliceRows = 200;
const sliceMs = 5;

type Test = (row: Record<string, unknown>) => boolean;

/** One page of a table's durable rows, in the order of their ids. */
export async function listRows<T extends ListedTable>(
  base: CommittedRows,
  marks: LastActivityPart,
  table: T,
  query: ListQuery<T>,
): Promise<Slice<Rows[T]>> {
  const fits = testsOf(base, marks, query);
  const index = narrowestIndex(base, table, query.where ?? {});
  const items: Rows[T][] = [];
  const room = new PageRoom();
  for (let after = query.after ?? ''; ; await yieldToEventLoop()) {
    const endMs = performance.now() + sliceMs;
    const ids = base.ids(table, index.member, index.value);
    let place = lowerBound(ids, after);
    if (ids[place] === after) place++;
    for (const end = Math.min(place + sliceRows, ids.length); place < end; place++) {
      after = ids[place] as string;
      const row = base.row(table, after) as unknown as Rows[T];
      if (fits.every((test) => test(row as unknown as Record<string, unknown>))) {
        if (items.length === query.limit || !room.take(jsonBytes(row)))
          return { items, next: items.at(-1)?.id ?? null };
        items.push(row);
      }
      if (performance.now() >= endMs) break;
    }
    if (place >= ids.length) return { items, next: null };
  }
}

/** Ids of codes that ended before a time, oldest first. */
export async function listFinishedCodes(
  base: CommittedRows,
  timeMs: number,
  limit: number,
): Promise<string[]> {
  const finished: { id: string; at: number }[] = [];
  let seen = 0;
  for (const id of base.all('codes')) {
    const at = codeFinishedAt(base.row('codes', id) as unknown as Rows['codes']);
    if (at < timeMs) finished.push({ id, at });
    if (++seen % sliceRows === 0) await yieldToEventLoop();
  }
  return finished
    .sort((one, other) => one.at - other.at)
    .slice(0, limit)
    .map((code) => code.id);
}

/** The index that leaves the fewest rows to look at. */
function narrowestIndex(
  base: CommittedRows,
  table: ListedTable,
  where: object,
): { member: string; value: string } {
  const indexed: readonly string[] = tables[table].indexed;
  let best = { member: allRows, value: allRows };
  for (const [member, value] of Object.entries(where)) {
    if (typeof value !== 'string' || !indexed.includes(member)) continue;
    if (base.ids(table, member, value).length < base.ids(table, best.member, best.value).length)
      best = { member, value };
  }
  return best;
}

function testsOf<T extends ListedTable>(
  base: CommittedRows,
  marks: LastActivityPart,
  { where = {}, labels = {}, name, search, online }: ListQuery<T>,
): Test[] {
  const tests: Test[] = [];
  for (const [member, value] of Object.entries(where))
    if (value !== undefined) tests.push((row) => [value].flat().includes(row[member]));
  for (const [label, value] of Object.entries(labels)) {
    tests.push(
      (row) =>
        Object.hasOwn(row.labels ?? {}, label) &&
        (row.labels as Record<string, string>)[label] === value,
    );
  }
  const nameOf = (row: Record<string, unknown>) =>
    typeof row.name === 'string' ? foldName(row.name) : undefined;
  if (name !== undefined) tests.push((row) => nameOf(row) === foldName(name));
  if (search !== undefined) tests.push((row) => nameOf(row)?.includes(foldName(search)) === true);
  if (online) {
    tests.push((row) => {
      const device = row as unknown as Device;
      return (
        isOnline(
          device.state,
          marks.marks('device', device.id).lastSeenAt,
          configOf(base, device),
          online.now,
        ) === online.is
      );
    });
  }
  return tests;
}

function configOf(base: CommittedRows, device: Device): DeviceConfig {
  return effectiveConfig(
    configIds(device).map((id) => (base.row('configs', id) as StoredConfig | undefined)?.config),
  );
}
