import { foldName } from '../../../domain/fields.ts';
import { maxPageBytes, PageRoom } from '../../../domain/page-room.ts';
import { defaultConfig } from '../../../domain/records/config.ts';
import type { Playlist, Rows } from '../../../domain/records/rows.ts';
import type { ListedTable, ListQuery, PastPlaylistQuery, Slice } from '../../store.ts';
import type { Query } from '../connection/query.ts';
import { keptLabels, keptText, memberColumn, type Shape, shapes } from './columns.ts';
import { rowOf } from './row-reader.ts';

/** A statement's conditions, and its parameters as they are named. */
class Conditions {
  readonly parameters: unknown[] = [];
  readonly all: string[] = [];

  parameter(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  add(condition: string): void {
    this.all.push(condition);
  }
}

/** One page of a table. What no column tells is told by the rows: pages are fetched until there are enough that fit. */
export async function listRows<T extends ListedTable>(
  ask: Query,
  table: T,
  query: ListQuery<T>,
): Promise<Slice<Rows[T]>> {
  const items: Rows[T][] = [];
  const room = new PageRoom();
  for (let after = query.after; ; ) {
    const { text, parameters } = pageStatement(shapes[table], query, after, query.limit + 1);
    const found = await ask<KeptRow>(text, parameters);
    for (const { row: kept, bytes } of found) {
      const row = rowOf<T>({ row: kept });
      after = row.id;
      if (!fits(row as unknown as Record<string, unknown>, query)) continue;
      if (items.length === query.limit || !room.take(bytes))
        return { items, next: (items.at(-1) as Rows[T]).id };
      items.push(row);
    }
    if (found.length <= query.limit && isWhole(found)) return { items, next: null };
  }
}

/** A row's text, its bytes, and those of the rows before it. */
interface KeptRow {
  row: string;
  bytes: number;
  before: number;
}

/** The rows of a statement that has `row` and orders by `key`, up to the first one that does not fit the page. */
function upToPage(statement: string, key: string): string {
  return `SELECT row, bytes, before FROM (
      SELECT row, ${key}, octet_length(row) AS bytes, row_number() OVER (ORDER BY ${key}) AS place_in_page,
        sum(octet_length(row)) OVER (ORDER BY ${key} ROWS UNBOUNDED PRECEDING) - octet_length(row) AS before
      FROM (${statement}) found) sized
    WHERE before <= ${maxPageBytes} OR place_in_page = 2 ORDER BY ${key}`;
}

/** Whether `upToPage` left nothing out. */
function isWhole(found: readonly KeptRow[]): boolean {
  const last = found.at(-1);
  return !last || last.before + last.bytes <= maxPageBytes;
}

/** One page of a screen's past versions, newest first. */
export async function listPastPlaylists(
  ask: Query,
  { screenId, below, limit }: PastPlaylistQuery,
): Promise<Slice<Playlist>> {
  const items: Playlist[] = [];
  const room = new PageRoom();
  const found = await ask<KeptRow>(upToPage(pastPlaylists, 'place'), [
    keptText(screenId),
    below,
    limit + 1,
  ]);
  for (const kept of found) {
    if (items.length === limit || !room.take(kept.bytes))
      return { items, next: String(items.at(-1)?.version) };
    items.push(rowOf<'pastPlaylists'>(kept));
  }
  return { items, next: null };
}

const pastPlaylists = `SELECT row, -split_part(id, '/', 2)::bigint AS place FROM signage.past_playlists
  WHERE screen_id = $1 AND split_part(id, '/', 2)::bigint < $2::double precision ORDER BY place LIMIT $3`;

function pageStatement<T extends ListedTable>(
  shape: Shape,
  query: ListQuery<T>,
  after: string | undefined,
  limit: number,
): { text: string; parameters: readonly unknown[] } {
  const { where = {}, labels = {}, name, search, online } = query;
  const conditions = new Conditions();
  if (after !== undefined) conditions.add(`t.id > ${conditions.parameter(keptText(after))}`);
  for (const [member, value] of Object.entries(where)) addMember(conditions, shape, member, value);
  if (Object.keys(labels).length > 0)
    conditions.add(`t.labels @> ${conditions.parameter(keptLabels(labels))}::jsonb`);
  if (name !== undefined)
    conditions.add(`t.folded = ${conditions.parameter(keptText(foldName(name)))}`);
  if (search !== undefined)
    conditions.add(`strpos(t.folded, ${conditions.parameter(keptText(foldName(search)))}) > 0`);
  const joins = online ? addOnline(conditions, online) : '';
  const all = conditions.all.length === 0 ? '' : `WHERE ${conditions.all.join(' AND ')}`;
  const statement = `SELECT t.row, t.id FROM ${shape.name} t ${joins} ${all} ORDER BY t.id LIMIT ${conditions.parameter(limit)}`;
  return { text: upToPage(statement, 'id'), parameters: conditions.parameters };
}

function addMember(
  conditions: Conditions,
  { columns }: Shape,
  member: string,
  value: unknown,
): void {
  const column =
    member === 'id'
      ? 'id'
      : columns.find(({ name, type }) => type === 'text' && name === memberColumn(member))?.name;
  if (column === undefined || value === undefined) return;
  const values = [value].flat();
  const texts = values.filter((one) => typeof one === 'string').map(keptText);
  const isAny = `t.${column} = ANY (${conditions.parameter(texts)}::text[])`;
  conditions.add(values.includes(null) ? `(${isAny} OR t.${column} IS NULL)` : isAny);
}

/** Of devices: as `isOnline` in domain/records/config.ts has it, over the config in force. */
function addOnline(conditions: Conditions, { is, now }: { is: boolean; now: number }): string {
  const inForce = (column: string, fallback: number) =>
    `coalesce(sc.${column}, vc.${column}, tc.${column}, ${fallback})`;
  const sync = inForce('sync_minutes', defaultConfig.syncIntervalMinutes);
  const heartbeat = inForce('heartbeat_minutes', defaultConfig.heartbeatIntervalMinutes);
  const seen = `${conditions.parameter(now)}::bigint - m.last_seen_at <= 120000 * greatest(${sync}, ${heartbeat})`;
  conditions.add(
    `coalesce(t.state = 'bound' AND ${seen}, false) = ${conditions.parameter(is)}::boolean`,
  );
  return `LEFT JOIN signage.marks m ON m.kind = 'device' AND m.id = t.id
    LEFT JOIN signage.configs sc ON sc.id = 'screen/' || t.screen_id
    LEFT JOIN signage.configs vc ON vc.id = 'venue/' || t.venue_id
    LEFT JOIN signage.configs tc ON tc.id = 'tenant/' || t.tenant_id`;
}

/** What the statement could only ask nearly, or not at all. */
function fits<T extends ListedTable>(
  row: Record<string, unknown>,
  { where = {}, labels = {} }: ListQuery<T>,
): boolean {
  const members = Object.entries(where).every(
    ([member, value]) => value === undefined || [value].flat().includes(row[member] as never),
  );
  const own = (row.labels ?? {}) as Record<string, string>;
  return (
    members &&
    Object.entries(labels).every(
      ([label, value]) => Object.hasOwn(own, label) && own[label] === value,
    )
  );
}

/** Ids of codes that ended before a time, oldest first. */
export async function listFinishedCodes(
  ask: Query,
  timeMs: number,
  limit: number,
): Promise<string[]> {
  const text =
    'SELECT id FROM signage.codes WHERE finished_at < $1 ORDER BY finished_at, id LIMIT $2';
  return (await ask<{ id: string }>(text, [timeMs, limit])).map(({ id }) => id);
}
