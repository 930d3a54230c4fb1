import { dayMs } from '../../../domain/clock.ts';
import type { SealedEntry } from '../../audit/audit-chain.ts';
import type {
  CopiedActivity,
  CopiedBatch,
  CopiedImpressions,
  DeviceKeys,
} from '../../copy/transfer.ts';
import type { Query } from '../connection/query.ts';
import { auditColumns } from '../rows/change-steps.ts';
import { storableText, type TableSchema } from '../rows/columns.ts';

/**
 * Inserts batches unchanged, and creates the partitions of their days. `days` caches the days that
 * have one. Roll-ups are copied separately.
 */
export async function putBatches(
  query: Query,
  batches: readonly CopiedBatch[],
  days: Set<number>,
): Promise<void> {
  for (const { receivedAt } of batches) {
    const day = Math.floor(receivedAt / dayMs) * dayMs;
    if (!days.has(day)) await query('SELECT signage.add_days($1::bigint, 1)', [day]);
    days.add(day);
  }
  const headers = batches.map(({ body, ...header }) => ({ ...header, types: typesOf(body) }));
  await query(insertBatches, [JSON.stringify(headers), batches.map(({ body }) => body).join('\n')]);
}

function typesOf(body: string): string[] {
  const events = JSON.parse(body) as { type: string }[];
  return [...new Set(events.map(({ type }) => storableText(type)))];
}

const insertBatches = `INSERT INTO signage.batches (seq, received_at, tenant_id, venue_id, screen_id, device_id, types, body)
  SELECT b.* FROM ROWS FROM (
    json_to_recordset($1::text::json) AS (seq bigint, "receivedAt" bigint, "tenantId" text, "venueId" text, "screenId" text, "deviceId" text, types text[]),
    unnest(string_to_array($2::text, E'\\n'))
  ) AS b`;

/** Inserts the idempotency keys of devices, numbered from 1. */
export async function putKeys(query: Query, devices: readonly DeviceKeys[]): Promise<void> {
  const rows = devices.flatMap(({ deviceId, keys }) =>
    keys.map(([key, sent], place) => ({ device: deviceId, n: place + 1, key, sent })),
  );
  await query(
    `INSERT INTO signage.batch_keys (device_id, n, key, sent)
      SELECT device, n, key, sent FROM json_to_recordset($1::text::json) AS k (device text, n bigint, key text, sent text)`,
    [JSON.stringify(rows)],
  );
}

export async function putImpressions(
  query: Query,
  impressions: readonly CopiedImpressions[],
): Promise<void> {
  await query(
    `INSERT INTO signage.rollups (scope, clock, grouped, day, key, impressions, seconds)
      SELECT scope, clock, "group", day, key, impressions, seconds FROM json_to_recordset($1::text::json)
        AS i (scope text, clock text, "group" text, day text, key text, impressions bigint, seconds double precision)`,
    [JSON.stringify(impressions)],
  );
}

export async function putLastActivity(
  query: Query,
  activities: readonly CopiedActivity[],
): Promise<void> {
  const rows = activities.map(({ kind, id, marks }) => ({
    kind,
    id,
    marks: JSON.stringify(marks),
    seen: marks.lastSeenAt ?? null,
  }));
  await query(
    `INSERT INTO signage.marks (kind, id, marks, last_seen_at)
      SELECT kind, id, marks, seen FROM json_to_recordset($1::text::json) AS m (kind text, id text, marks text, seen bigint)`,
    [JSON.stringify(rows)],
  );
}

/** Inserts rows into an empty table. */
export async function putRows(
  query: Query,
  { name, columns }: TableSchema,
  rows: readonly { id: string }[],
): Promise<void> {
  const all = [{ name: 'id', type: 'text' }, { name: 'row', type: 'text' }, ...columns];
  const names = all.map((column) => column.name).join(', ');
  const typed = all.map((column) => `${column.name} ${column.type}`).join(', ');
  const values = rows.map((row) => ({
    id: storableText(row.id),
    row: JSON.stringify(row),
    ...Object.fromEntries(columns.map((column) => [column.name, column.of(row)])),
  }));
  const text = `INSERT INTO ${name} (${names}) SELECT ${names} FROM json_to_recordset($1::text::json) AS r (${typed})`;
  await query(text, [JSON.stringify(values)]);
}

/** Appends entries to the audit trail, in order. */
export async function putAudit(query: Query, entries: readonly SealedEntry[]): Promise<void> {
  const rows = entries.map(({ entry, link }) => ({
    ...auditColumns(entry),
    writer: link?.writer,
    link: link?.seq,
    mac: link?.mac,
  }));
  await query(insertAudit, [JSON.stringify(rows)]);
}

const insertAudit = `INSERT INTO signage.audit (at, tenant_id, action, subject_id, venue_ids, entry, writer, link, mac)
  SELECT at, tenant_id, action, subject_id, venue_ids, entry, writer, link, mac FROM ROWS FROM (
    json_to_recordset($1::text::json)
      AS (at bigint, tenant_id text, action text, subject_id text, venue_ids text[], entry text, writer text, link bigint, mac text)
  ) WITH ORDINALITY AS e ORDER BY ordinality`;
