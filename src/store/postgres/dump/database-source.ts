import { dayMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { firstDay } from '../../../domain/records/report.ts';
import { publicUrl } from '../../../domain/store-url.ts';
import type { DumpSource } from '../../dump/dump.ts';
import { maxSeconds, type Records, type SectionName } from '../../dump/records.ts';
import { groupOrder, lastDay } from '../../impression-counts.ts';
import { type Rows, type TableName, tableNames } from '../../sections.ts';
import { readChain } from '../audit/chain.ts';
import { sealedRow } from '../audit/trail.ts';
import { longTimeouts } from '../connection/connect.ts';
import { Database } from '../connection/database.ts';
import { playRecords } from '../events/plays.ts';
import { Rollups, unfoldedSums } from '../events/rollups.ts';
import { migrate } from '../migration/migrate.ts';
import { tableSchema } from '../rows/columns.ts';
import { DumpSession } from './dump-session.ts';

const dayOfName = (name: string) => Date.parse(name) / dayMs;

/** The cursor of a section. */
interface Cursor<R> {
  select: string;
  /** Rows fetched at a time. It is smaller for large rows, to limit memory. */
  pageRows?: number;
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  recordOf(row: any): R;
}

type Cursors = { [S in Exclude<SectionName, 'plays'>]: Cursor<Records[S]> };

/** Begins a transaction that sees one state. */
export const beginSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Reads one state of a database. The session must be in a transaction that sees one state. */
export async function databaseSource(session: DumpSession): Promise<DumpSource> {
  const { head, start, gaps } = await readChain(session.query);
  const chain = { head: head && head.seq > 0 ? head : undefined, start, gaps };
  const sums = await unfoldedSums(session.query);
  const cursors: Cursors = {
    server: {
      select:
        'SELECT secret, seq, received_at AS "receivedAt" FROM signage.server, signage.log_head',
      recordOf: ({ secret, ...log }) => ({ secret, log, chain }),
    },
    batches,
    idempotency,
    impressions: impressionsCursor(JSON.stringify(sums.impressions)),
    sequences,
    audit: {
      select: 'SELECT seq, entry, writer, link, mac FROM signage.audit ORDER BY seq',
      recordOf: sealedRow,
    },
    ...(Object.fromEntries(tableNames.map((table) => [table, rowsCursor(table)])) as {
      [T in TableName]: Cursor<Rows[T]>;
    }),
    marks,
  };
  const read = (section: SectionName) =>
    section === 'plays'
      ? playRecords(session.query, readPages(session, playsCursor), sums.plays)
      : recordsOf(readPages(session, cursors[section]), cursors[section] as Cursor<unknown>);
  return { read: read as DumpSource['read'] };
}

/**
 * Opens the database of a stopped service. No service starts on it until `close`. Throws
 * `store_locked`, `store_unreachable`, `store_unusable`.
 */
export async function openDatabaseSource(
  url: string,
): Promise<{ source: DumpSource; close(): Promise<void> }> {
  const session = await DumpSession.openAlone(url);
  try {
    await requireStore(session, publicUrl(url));
    const database = new Database(session.connect, longTimeouts);
    await new Rollups(database).fold().finally(() => database.close());
    await session.queryAll(beginSnapshot);
    return { source: await databaseSource(session), close: () => session.close() };
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function requireStore(session: DumpSession, location: string): Promise<void> {
  const unusable = (why: string) => new SignageError('store_unusable', `${location} ${why}.`);
  if ((await migrate(session.connect, { dryRun: true })).length > 0)
    throw unusable('has no schema: it is not the database of a service');
  if ((await session.query('SELECT FROM signage.server')).length === 0)
    throw unusable('holds no data: no service has ever started on it');
}

async function* recordsOf<R>(
  pages: AsyncIterable<readonly unknown[]>,
  { recordOf }: Cursor<R>,
): AsyncGenerator<R> {
  for await (const rows of pages) yield* rows.map(recordOf);
}

async function* readPages<R>(
  session: DumpSession,
  { select, pageRows = 500 }: Pick<Cursor<unknown>, 'select' | 'pageRows'>,
): AsyncGenerator<readonly R[]> {
  await session.queryAll(`DECLARE section NO SCROLL CURSOR FOR ${select}`);
  for (let found = pageRows; found === pageRows; ) {
    const rows = await session.queryAll<R>(`FETCH FORWARD ${pageRows} FROM section`);
    yield rows;
    found = rows.length;
  }
  await session.queryAll('CLOSE section');
}

function rowsCursor<T extends TableName>(table: T): Cursor<Rows[T]> {
  return {
    select: `SELECT row FROM ${tableSchema(table).name} ORDER BY id`,
    // Only these rows are large.
    ...(/^(c|pastC)ontents$/.test(table) && { pageRows: 50 }),
    recordOf: ({ row }: { row: string }) => JSON.parse(row) as Rows[T],
  };
}

/** In the order of a dump. Days that share a document come last. */
const playsCursor = {
  select: `SELECT clock, tenant_id, day, place, cells FROM signage.plays
    ORDER BY clock, CASE WHEN day BETWEEN ${dayOfName(firstDay)} AND ${dayOfName(lastDay)} THEN day ELSE ${Number.MAX_SAFE_INTEGER} END, tenant_id, day, place`,
};

const batches: Cursors['batches'] = {
  select: `SELECT seq, received_at AS "receivedAt", tenant_id AS "tenantId", venue_id AS "venueId", screen_id AS "screenId",
    device_id AS "deviceId", simulated, offset_ms AS "offsetMs", offsets, body FROM signage.batches ORDER BY received_at, batches.seq`,
  pageRows: 50,
  recordOf: ({ simulated, offsetMs, offsets, ...row }) => ({
    ...row,
    simulated: simulated || undefined,
    offsetMs: offsetMs ?? undefined,
    offsets: offsets === null ? undefined : JSON.parse(offsets),
  }),
};

const idempotency: Cursors['idempotency'] = {
  select: `SELECT device_id AS "deviceId", string_agg(key || ' ' || sent, ',' ORDER BY n) AS keys
    FROM signage.batch_keys GROUP BY device_id ORDER BY device_id`,
  recordOf: ({ deviceId, keys }: { deviceId: string; keys: string }) => ({
    deviceId,
    keys: keys.split(',').map((pair) => pair.split(' ') as [string, string]),
  }),
};

/** Reads the roll-ups, with sums added that are not folded into them yet. */
function impressionsCursor(unfolded: string): Cursor<Records['impressions']> {
  const groups = groupOrder.map((group) => `'${group}'`).join(', ');
  return {
    select: `SELECT clock, day, grouped AS "group", scope, key, sum(impressions)::bigint AS impressions,
        least(sum(seconds), ${maxSeconds}::double precision) AS seconds
      FROM (SELECT clock, day, grouped, scope, key, impressions, seconds FROM signage.rollups
        UNION ALL SELECT clock, day, grouped, scope, key, impressions, least(seconds, ${maxSeconds}::double precision)
          FROM json_populate_recordset(NULL::signage.rollups, '${unfolded.replaceAll("'", "''")}')) AS r
      GROUP BY clock, day, grouped, scope, key
      ORDER BY clock, CASE WHEN day BETWEEN '${firstDay}' AND '${lastDay}' THEN day ELSE '~' END,
        array_position(ARRAY[${groups}], grouped), scope, day, key`,
    recordOf: (row) => row,
  };
}

const sequences: Cursors['sequences'] = {
  select: `SELECT device_id AS "deviceId", floor, missing, conflicts,
      (SELECT json_agg(json_build_array(lower(r), upper(r) - 1) ORDER BY r) FROM unnest(received) AS r)::text AS ranges
    FROM signage.sequences ORDER BY device_id`,
  recordOf: ({ ranges, ...row }) => ({ ...row, ranges: JSON.parse(ranges ?? '[]') }),
};

const marks: Cursors['marks'] = {
  select: `SELECT kind, id, marks FROM signage.marks WHERE marks <> '{}' ORDER BY kind, id`,
  recordOf: ({ kind, id, marks: activity }) => ({ kind, id, ...JSON.parse(activity) }),
};
