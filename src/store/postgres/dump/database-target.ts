import { dayMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import type { DumpSource } from '../../dump/dump.ts';
import type { Records, SectionName } from '../../dump/records.ts';
import type { DumpTarget } from '../../dump/restore-dump.ts';
import { type TableName, tableNames } from '../../sections.ts';
import { putChain } from '../audit/chain.ts';
import { placesOf, storePlays } from '../events/plays.ts';
import { migrate } from '../migration/migrate.ts';
import { storableText, tableSchema } from '../rows/columns.ts';
import { auditColumns, rowColumns } from '../rows/transaction-steps.ts';
import { databaseSource } from './database-source.ts';
import { DumpSession } from './dump-session.ts';

/** Tables of the sections that are not rows. */
const tableOf = {
  batches: 'signage.batches',
  idempotency: 'signage.batch_keys',
  impressions: 'signage.rollups',
  plays: 'signage.plays',
  sequences: 'signage.sequences',
  audit: 'signage.audit',
  marks: 'signage.marks',
} as const;

const tablesToFill = () => [
  ...Object.values(tableOf),
  ...tableNames.map((table) => tableSchema(table).name),
];

/**
 * Opens an empty database as the target of a restore, and creates its schema. No service starts on
 * it until `close`. Throws `store_locked`, `store_not_empty`, `store_unreachable`,
 * `store_unusable`.
 */
export async function openDatabaseTarget(url: string): Promise<DumpTarget> {
  const session = await DumpSession.openAlone(url);
  try {
    await migrate(session.connect);
    await requireEmpty(session, publicUrl(url));
    return new DatabaseTarget(session);
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Throws `store_not_empty` and `store_locked`, as `openDatabaseTarget` would. Changes nothing. */
export async function requireEmptyDatabase(url: string): Promise<void> {
  const session = await DumpSession.openAlone(url);
  try {
    const missing = await migrate(session.connect, { dryRun: true });
    if (missing.length === 0) await requireEmpty(session, publicUrl(url));
  } finally {
    await session.close();
  }
}

async function requireEmpty(session: DumpSession, location: string): Promise<void> {
  for (const table of tablesToFill()) {
    const [row] = await session.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${table}) AS found`,
    );
    if (row?.found)
      throw new SignageError(
        'store_not_empty',
        `${location} is not empty (${table}). Choose an empty database. Nothing was changed.`,
      );
  }
}

/** Restores in one transaction. */
class DatabaseTarget implements DumpTarget {
  readonly #session: DumpSession;

  constructor(session: DumpSession) {
    this.#session = session;
  }

  async begin({ secret, log, chain }: Records['server']): Promise<void> {
    const { query } = this.#session;
    await this.#session.queryAll('BEGIN');
    // A service that started but stored nothing may have left a row.
    await query('DELETE FROM signage.server');
    await query('INSERT INTO signage.server (secret) VALUES ($1)', [secret]);
    await putChain(query, chain);
    for (const name of ['log_head', 'rollup_mark'])
      await query(`UPDATE signage.${name} SET received_at = $1, seq = $2`, [
        log.receivedAt,
        log.seq,
      ]);
  }

  async accept<S extends SectionName>(section: S, records: readonly Records[S][]): Promise<void> {
    const { query } = this.#session;
    if (section === 'batches') return this.#addBatches(records as readonly Records['batches'][]);
    if (section === 'plays')
      return storePlays(query, placesOf(records as readonly Records['plays'][]));
    const name = section as keyof typeof tableOf;
    const table = tableOf[name] ?? tableSchema(section as TableName).name;
    const columnsOf = (name in columns ? columns[name as keyof typeof columns] : undefined) as
      | ((record: Records[S]) => object[])
      | undefined;
    const rows = columnsOf
      ? records.flatMap(columnsOf)
      : records.map((row) => rowColumns(section as TableName, JSON.stringify(row)));
    const names = Object.keys(rows[0] ?? {}).join(', ');
    await query(
      `INSERT INTO ${table} (${names}) SELECT ${names}
        FROM json_populate_recordset(NULL::${table}, $1::text::json) WITH ORDINALITY AS r ORDER BY ordinality`,
      [JSON.stringify(rows)],
    );
  }

  /** Creates the partitions for the days of the batches. */
  async #addBatches(records: readonly Records['batches'][]): Promise<void> {
    const { query } = this.#session;
    for (const day of new Set(records.map(({ receivedAt }) => Math.floor(receivedAt / dayMs))))
      await query('SELECT signage.add_days($1::bigint, 1)', [day * dayMs]);
    const headers = records.map(({ body, offsets, ...header }) => ({
      ...header,
      offsets: offsets && JSON.stringify(offsets),
      types: typesOf(body),
    }));
    await query(
      `INSERT INTO signage.batches (seq, received_at, tenant_id, venue_id, screen_id, device_id, simulated, offset_ms, offsets, types, body)
        SELECT b.* FROM ROWS FROM (
          json_to_recordset($1::text::json) AS (seq bigint, "receivedAt" bigint, "tenantId" text, "venueId" text, "screenId" text, "deviceId" text, simulated boolean, "offsetMs" bigint, offsets text, types text[]),
          unnest(string_to_array($2::text, E'\\n'))
        ) AS b`,
      [JSON.stringify(headers), records.map(({ body }) => body).join('\n')],
    );
  }

  async finish(): Promise<DumpSource> {
    await this.#session.queryAll(`ANALYZE ${tablesToFill().join(', ')}`);
    return databaseSource(this.#session);
  }

  async commit(): Promise<void> {
    await this.#session.queryAll('COMMIT');
  }

  async undo(): Promise<void> {
    await this.#session.queryAll('ROLLBACK').catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

function typesOf(body: string): string[] {
  const events = JSON.parse(body) as { type: string }[];
  return [...new Set(events.map(({ type }) => storableText(type)))];
}

/** By section: the columns of a record, or of the rows that it stands for. */
const columns = {
  idempotency: ({ deviceId, keys }: Records['idempotency']) =>
    keys.map(([key, sent], place) => ({ device_id: deviceId, n: place + 1, key, sent })),
  impressions: ({ group, ...record }: Records['impressions']) => [{ ...record, grouped: group }],
  sequences: ({ deviceId, ranges, ...counts }: Records['sequences']) => [
    {
      device_id: deviceId,
      ...counts,
      received: `{${ranges.map(([first, last]) => `[${first},${last}]`).join(',')}}`,
    },
  ],
  audit: ({ entry, link }: Records['audit']) => [
    { ...auditColumns(entry), writer: link.writer, link: link.seq, mac: link.mac },
  ],
  marks: ({ kind, id, ...marks }: Records['marks']) => [
    { kind, id, marks: JSON.stringify(marks), last_seen_at: marks.lastSeenAt ?? null },
  ],
};
