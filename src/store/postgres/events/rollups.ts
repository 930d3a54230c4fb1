import { type Cell, count } from '../../../domain/events/batch-counts.ts';
import { dayOf, type ReportRow } from '../../../domain/records/report.ts';
import type { ImpressionQuery } from '../../store.ts';
import type { Database } from '../connection/database.ts';
import type { Query } from '../connection/query.ts';
import { dayCounts } from './batch-counts.ts';

/** Batches that are folded in one transaction: large ones of many campaigns take a millisecond each to add up, and nothing else is done meanwhile. */
const atOnce = 100;
/** Beyond it doubles overflow when two are added; PostgreSQL would refuse. */
const mostSeconds = 8e307;

interface Position {
  received_at: number;
  seq: number;
}

interface CountedBatch extends Position {
  tenant_id: string;
  venue_id: string;
  screen_id: string;
  counts: string | null;
}

/**
 * Daily impressions. A batch comes with its own counts, in its own row: appending adds to nothing that others add to. From there they are folded into the
 * roll-ups, by one instance at a time, in the order of the log: the mark says how far. A report folds what is left first, so it is exact.
 */
export class Rollups {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Folds all batches that were stored before the call. */
  async fold(): Promise<void> {
    const text =
      'SELECT head.seq, mark.seq AS folded FROM signage.log_head AS head, signage.rollup_mark AS mark';
    const [{ seq, folded: already }] = (await this.#database.ask(text)) as [
      { seq: number; folded: number },
    ];
    for (let folded = already; folded < seq; ) {
      folded = await this.#database.transaction('BEGIN', (ask) => foldSome(ask));
    }
  }

  /** The report: sorted by key. */
  async impressions({
    tenantId,
    venueIds,
    groupBy,
    by,
    from = '',
    to = '~',
  }: ImpressionQuery): Promise<ReportRow[]> {
    await this.fold();
    const scopes = [...new Set(venueIds ?? [tenantId])];
    const text = `SELECT key, sum(impressions)::bigint AS impressions,
        CASE WHEN max(seconds) < 1e300 THEN sum(seconds) ELSE $1::double precision END AS seconds
      FROM signage.rollups WHERE scope = ANY ($2::text[]) AND clock = $3 AND grouped = $4 AND day >= $5 AND day < $6
      GROUP BY key ORDER BY key`;
    const rows = await this.#database.ask<ReportRow>(text, [
      Number.MAX_VALUE,
      scopes,
      by,
      groupBy,
      from,
      to,
    ]);
    return rows.map(({ key, impressions, seconds }) => ({ key, impressions, seconds }));
  }
}

/** Folds the next batches; answers how far it is then. */
async function foldSome(ask: Query): Promise<number> {
  const [mark] = (await ask<Position>(
    'SELECT received_at, seq FROM signage.rollup_mark FOR UPDATE',
  )) as [Position];
  const batches = await ask<CountedBatch>(
    `SELECT received_at, seq, tenant_id, venue_id, screen_id, counts FROM signage.batches
      WHERE received_at >= $1::bigint AND (received_at, seq) > ($1::bigint, $2::bigint) ORDER BY received_at, seq LIMIT ${atOnce}`,
    [mark.received_at, mark.seq],
  );
  const last = batches.at(-1);
  // What the log's head counts and no partition has was dropped: there is nothing more to fold.
  if (!last) return Number.POSITIVE_INFINITY;
  const sums = sumsOf(batches);
  if (sums.length > 0) await ask(adding, [JSON.stringify(sums), mostSeconds]);
  await ask('UPDATE signage.rollup_mark SET received_at = $1, seq = $2', [
    last.received_at,
    last.seq,
  ]);
  return last.seq;
}

type Sum = { scope: string; clock: string; grouped: string; day: string; key: string } & Cell;

/** The batches' counts, once for the tenant and once for the venue; in the order of their keys. */
function sumsOf(batches: readonly CountedBatch[]): Sum[] {
  const cells = new Map<string, Cell>();
  for (const { received_at, tenant_id, venue_id, screen_id, counts } of batches) {
    if (counts === null) continue;
    const days = dayCounts(counts, { venueId: venue_id, screenId: screen_id }, dayOf(received_at));
    for (const { clock, day, cells: more } of days) {
      for (const [group, key, cell] of more) {
        for (const scope of [tenant_id, venue_id])
          count(cells, JSON.stringify([scope, clock, group, day, key]), cell);
      }
    }
  }
  return [...cells.keys()].sort().map((name) => {
    const [scope, clock, grouped, day, key] = JSON.parse(name) as [
      string,
      string,
      string,
      string,
      string,
    ];
    return { scope, clock, grouped, day, key, ...(cells.get(name) as Cell) };
  });
}

const adding = `INSERT INTO signage.rollups AS r (scope, clock, grouped, day, key, impressions, seconds)
  SELECT scope, clock, grouped, day, key, impressions, least(seconds, $2::double precision)
  FROM json_to_recordset($1::text::json)
    AS s (scope text, clock text, grouped text, day text, key text, impressions bigint, seconds double precision)
  ON CONFLICT (scope, clock, grouped, day, key) DO UPDATE
    SET impressions = r.impressions + excluded.impressions, seconds = least(r.seconds + excluded.seconds, $2::double precision)`;
