import { dayMs } from '../../../domain/clock.ts';
import type {
  CopiedActivity,
  CopiedSequence,
  DeviceKeys,
  Records,
  Section,
} from '../../copy/transfer.ts';
import { type Rows, type TableName, tableNames } from '../../sections.ts';
import { sealedRow } from '../audit/trail.ts';
import type { Query } from '../connection/query.ts';
import { auditColumns, rowColumns } from '../rows/change-steps.ts';
import { storableText, tableSchema } from '../rows/columns.ts';

/** The statements that read and write a section. */
interface SectionStatements<R> {
  /** Selects all records, in a stable order. */
  select: string;
  count: string;
  /** Number of rows fetched at a time. It is smaller for large rows, to limit memory. */
  pageRows: number;
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  recordOf(row: any): R;
  /** Inserts records, in order. */
  insert(query: Query, records: readonly R[]): Promise<void>;
}

/** Inserts at least one row, in order. All rows must have the same columns. */
async function insertRows(query: Query, table: string, rows: readonly object[]): Promise<void> {
  const names = Object.keys(rows[0] as object).join(', ');
  await query(
    `INSERT INTO ${table} (${names}) SELECT ${names}
      FROM json_populate_recordset(NULL::${table}, $1::text::json) WITH ORDINALITY AS r ORDER BY ordinality`,
    [JSON.stringify(rows)],
  );
}

function tableStatements<T extends TableName>(table: T): SectionStatements<Rows[T]> {
  const { name } = tableSchema(table);
  return {
    select: `SELECT row FROM ${name} ORDER BY id`,
    count: `SELECT count(*) AS found FROM ${name}`,
    pageRows: table === 'playlists' || table === 'pastPlaylists' ? 50 : 500,
    recordOf: ({ row }: { row: string }) => JSON.parse(row) as Rows[T],
    insert: (query, rows) =>
      insertRows(
        query,
        name,
        rows.map((row) => rowColumns(table, JSON.stringify(row))),
      ),
  };
}

const batches: SectionStatements<Records['batches']> = {
  select: `SELECT seq, received_at AS "receivedAt", tenant_id AS "tenantId", venue_id AS "venueId", screen_id AS "screenId",
    device_id AS "deviceId", simulated, offset_ms AS "offsetMs", body FROM signage.batches ORDER BY received_at, batches.seq`,
  count: 'SELECT count(*) AS found FROM signage.batches',
  pageRows: 50,
  recordOf: ({ simulated, offsetMs, ...row }) => ({
    ...row,
    ...(simulated && { simulated }),
    ...(offsetMs !== null && { offsetMs }),
  }),
  /** Creates the partitions for the days of the batches. Roll-ups are copied separately. */
  async insert(query, records) {
    for (const day of new Set(records.map(({ receivedAt }) => Math.floor(receivedAt / dayMs))))
      await query('SELECT signage.add_days($1::bigint, 1)', [day * dayMs]);
    const headers = records.map(({ body, ...header }) => ({ ...header, types: typesOf(body) }));
    await query(
      `INSERT INTO signage.batches (seq, received_at, tenant_id, venue_id, screen_id, device_id, simulated, offset_ms, types, body)
        SELECT b.* FROM ROWS FROM (
          json_to_recordset($1::text::json) AS (seq bigint, "receivedAt" bigint, "tenantId" text, "venueId" text, "screenId" text, "deviceId" text, simulated boolean, "offsetMs" bigint, types text[]),
          unnest(string_to_array($2::text, E'\\n'))
        ) AS b`,
      [JSON.stringify(headers), records.map(({ body }) => body).join('\n')],
    );
  },
};

function typesOf(body: string): string[] {
  const events = JSON.parse(body) as { type: string }[];
  return [...new Set(events.map(({ type }) => storableText(type)))];
}

const audit: SectionStatements<Records['audit']> = {
  select: 'SELECT seq, entry, writer, link, mac FROM signage.audit ORDER BY seq',
  count: 'SELECT count(*) AS found FROM signage.audit',
  pageRows: 500,
  recordOf: sealedRow,
  insert: (query, entries) =>
    insertRows(
      query,
      'signage.audit',
      entries.map(({ entry, link }) => ({
        ...auditColumns(entry),
        writer: link?.writer,
        link: link?.seq,
        mac: link?.mac,
      })),
    ),
};

const idempotency: SectionStatements<DeviceKeys> = {
  select: `SELECT device_id AS "deviceId", string_agg(key || ' ' || sent, ',' ORDER BY n) AS keys
    FROM signage.batch_keys GROUP BY device_id ORDER BY device_id`,
  count: 'SELECT count(DISTINCT device_id) AS found FROM signage.batch_keys',
  pageRows: 500,
  recordOf: ({ deviceId, keys }: { deviceId: string; keys: string }) => ({
    deviceId,
    keys: keys.split(',').map((pair) => pair.split(' ') as [string, string]),
  }),
  insert: (query, devices) =>
    insertRows(
      query,
      'signage.batch_keys',
      devices.flatMap(({ deviceId, keys }) =>
        keys.map(([key, sent], place) => ({ device_id: deviceId, n: place + 1, key, sent })),
      ),
    ),
};

const impressions: SectionStatements<Records['impressions']> = {
  select: `SELECT scope, clock, grouped AS "group", day, key, impressions, seconds
    FROM signage.rollups ORDER BY clock, day, scope, grouped, key`,
  count: 'SELECT count(*) AS found FROM signage.rollups',
  pageRows: 500,
  recordOf: (row) => row,
  insert: (query, records) =>
    insertRows(
      query,
      'signage.rollups',
      records.map(({ group, ...record }) => ({ ...record, grouped: group })),
    ),
};

const sequences: SectionStatements<CopiedSequence> = {
  select: `SELECT device_id AS "deviceId", floor, missing, conflicts,
      (SELECT json_agg(json_build_array(lower(r), upper(r) - 1) ORDER BY r) FROM unnest(received) AS r)::text AS ranges
    FROM signage.sequences ORDER BY device_id`,
  count: 'SELECT count(*) AS found FROM signage.sequences',
  pageRows: 500,
  recordOf: ({ deviceId, floor, missing, conflicts, ranges }) => ({
    deviceId,
    state: { floor, missing, conflicts, ranges: JSON.parse(ranges ?? '[]') },
  }),
  insert: (query, records) =>
    insertRows(
      query,
      'signage.sequences',
      records.map(({ deviceId, state: { ranges, ...counts } }) => ({
        device_id: deviceId,
        ...counts,
        received: `{${ranges.map(([first, last]) => `[${first},${last}]`).join(',')}}`,
      })),
    ),
};

/** Leaves out activity rows without values. */
const nonEmptyActivity = `FROM signage.marks WHERE marks <> '{}'`;

const marks: SectionStatements<CopiedActivity> = {
  select: `SELECT kind, id, marks ${nonEmptyActivity} ORDER BY kind, id`,
  count: `SELECT count(*) AS found ${nonEmptyActivity}`,
  pageRows: 500,
  recordOf: ({ marks, ...key }) => ({ ...key, marks: JSON.parse(marks) }),
  insert: (query, activities) =>
    insertRows(
      query,
      'signage.marks',
      activities.map(({ kind, id, marks }) => ({
        kind,
        id,
        marks: JSON.stringify(marks),
        last_seen_at: marks.lastSeenAt ?? null,
      })),
    ),
};

export const sectionStatements = {
  ...Object.fromEntries(tableNames.map((table) => [table, tableStatements(table)])),
  batches,
  audit,
  idempotency,
  impressions,
  sequences,
  marks,
} as { [S in Section]: SectionStatements<Records[S]> };
