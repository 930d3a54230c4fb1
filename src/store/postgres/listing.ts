import { defaultConfig } from '../../domain/config.ts';
import type { Rows } from '../../domain/records.ts';
import { foldName } from '../../domain/scalars.ts';
import type { ListedTable, ListQuery, Slice } from '../store.ts';
import type { Ask } from './ask.ts';
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
export async function listRows<T extends ListedTable>(ask: Ask, table: T, query: ListQuery<T>): Promise<Slice<Rows[T]>> {
  const items: Rows[T][] = [];
  for (let after = query.after; ; ) {
    const { text, parameters } = pageStatement(shapes[table], query, after, query.limit + 1);
    const rows = (await ask<{ row: string }>(text, parameters)).map((kept) => rowOf<T>(kept));
    for (const row of rows) {
      if (!fits(row as unknown as Record<string, unknown>, query)) continue;
      if (items.length === query.limit) return { items, next: (items.at(-1) as Rows[T]).id };
      items.push(row);
    }
    if (rows.length <= query.limit) return { items, next: null };
    after = rows.at(-1)?.id;
  }
}

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
  if (Object.keys(labels).length > 0) conditions.add(`t.labels @> ${conditions.parameter(keptLabels(labels))}::jsonb`);
  if (name !== undefined) conditions.add(`t.folded = ${conditions.parameter(keptText(foldName(name)))}`);
  if (search !== undefined) conditions.add(`strpos(t.folded, ${conditions.parameter(keptText(foldName(search)))}) > 0`);
  const joins = online ? addOnline(conditions, online) : '';
  const all = conditions.all.length === 0 ? '' : `WHERE ${conditions.all.join(' AND ')}`;
  const text = `SELECT t.row FROM ${shape.name} t ${joins} ${all} ORDER BY t.id LIMIT ${conditions.parameter(limit)}`;
  return { text, parameters: conditions.parameters };
}

function addMember(conditions: Conditions, { columns }: Shape, member: string, value: unknown): void {
  const column = member === 'id' ? 'id' : columns.find(({ name, type }) => type === 'text' && name === memberColumn(member))?.name;
  if (column === undefined || value === undefined) return;
  const values = [value].flat();
  const texts = values.filter((one) => typeof one === 'string').map(keptText);
  const isAny = `t.${column} = ANY (${conditions.parameter(texts)}::text[])`;
  conditions.add(values.includes(null) ? `(${isAny} OR t.${column} IS NULL)` : isAny);
}

/** Of devices: as `isOnline` in domain/config.ts has it, over the config in force. */
function addOnline(conditions: Conditions, { is, now }: { is: boolean; now: number }): string {
  const inForce = (column: string, fallback: number) => `coalesce(sc.${column}, vc.${column}, tc.${column}, ${fallback})`;
  const sync = inForce('sync_minutes', defaultConfig.syncIntervalMinutes);
  const heartbeat = inForce('heartbeat_minutes', defaultConfig.heartbeatIntervalMinutes);
  const seen = `${conditions.parameter(now)}::bigint - m.last_seen_at <= 120000 * greatest(${sync}, ${heartbeat})`;
  conditions.add(`coalesce(t.state = 'bound' AND ${seen}, false) = ${conditions.parameter(is)}::boolean`);
  return `LEFT JOIN signage.marks m ON m.kind = 'device' AND m.id = t.id
    LEFT JOIN signage.configs sc ON sc.id = 'screen/' || t.screen_id
    LEFT JOIN signage.configs vc ON vc.id = 'venue/' || t.venue_id
    LEFT JOIN signage.configs tc ON tc.id = 'tenant/' || t.tenant_id`;
}

/** What the statement could only ask nearly, or not at all. */
function fits<T extends ListedTable>(row: Record<string, unknown>, { where = {}, labels = {} }: ListQuery<T>): boolean {
  const members = Object.entries(where).every(([member, value]) => value === undefined || [value].flat().includes(row[member] as never));
  const own = (row.labels ?? {}) as Record<string, string>;
  return members && Object.entries(labels).every(([label, value]) => Object.hasOwn(own, label) && own[label] === value);
}

/** Ids of codes that ended before a time, oldest first. */
export async function listFinishedCodes(ask: Ask, timeMs: number, limit: number): Promise<string[]> {
  const text = 'SELECT id FROM signage.codes WHERE finished_at < $1 ORDER BY finished_at, id LIMIT $2';
  return (await ask<{ id: string }>(text, [timeMs, limit])).map(({ id }) => id);
}
