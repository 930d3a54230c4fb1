import { addCount, type ImpressionCount } from '../../../domain/events/batch-counts.ts';
import { dayOf, type ImpressionRow } from '../../../domain/records/report.ts';
import { maxSeconds } from '../../dump/records.ts';
import { reportScopes, scopesOf } from '../../impression-counts.ts';
import type { ImpressionQuery, PlayQuery, PlayVisitor } from '../../queries.ts';
import type { Database } from '../connection/database.ts';
import type { Query } from '../connection/query.ts';
import { dayCounts } from './batch-counts.ts';
import { addPlays, type PlacesOfPlays, storePlays, visitPlays } from './plays.ts';

/**
 * Number of batches folded in one transaction. A large batch of many campaigns takes a millisecond
 * of CPU time, which blocks the event loop.
 */
const batchesPerTransaction = 100;
interface Position {
  received_at: number;
  seq: number;
}

interface CountedBatch extends Position {
  /** `null`: a batch of 0.1.0. */
  offsets: string | null;
  tenant_id: string;
  venue_id: string;
  screen_id: string;
  simulated: boolean | null;
  counts: string | null;
}

/**
 * Daily impressions. Each batch stores its own counts, so appends do not contend for shared rows.
 * One instance at a time folds the counts into the roll-ups, in log order, and stores its position.
 * A report is exact, because it first folds the remaining batches.
 */
export class Rollups {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Folds all batches stored before the call. */
  async fold(): Promise<void> {
    const text =
      'SELECT head.seq, folded.seq AS folded FROM signage.log_head AS head, signage.rollup_mark AS folded';
    const [{ seq, folded: start }] = (await this.#database.query(text)) as [
      { seq: number; folded: number },
    ];
    for (let folded = start; folded < seq; ) {
      folded = await this.#database.transaction('BEGIN', (query) => foldNext(query));
    }
  }

  /** Gives all counts of a tenant between two UTC days to a visitor. */
  async plays<V extends PlayVisitor>(query: PlayQuery, begin: () => V): Promise<V> {
    await this.fold();
    const visitor = begin();
    await visitPlays(this.#database.query, query, visitor);
    return visitor;
  }

  /** Returns the report, sorted by key. */
  async impressions(query: ImpressionQuery): Promise<ImpressionRow[]> {
    await this.fold();
    const { groupBy, by, from = '', to = '~' } = query;
    const text = `SELECT key, sum(impressions)::bigint AS impressions,
        CASE WHEN max(seconds) < 1e300 THEN sum(seconds) ELSE $1::double precision END AS seconds
      FROM signage.rollups WHERE scope = ANY ($2::text[]) AND clock = $3 AND grouped = $4 AND day >= $5 AND day < $6
      GROUP BY key ORDER BY key`;
    const rows = await this.#database.query<ImpressionRow>(text, [
      Number.MAX_VALUE,
      reportScopes(query),
      by,
      groupBy,
      from,
      to,
    ]);
    return rows.map(({ key, impressions, seconds }) => ({ key, impressions, seconds }));
  }
}

/** Returns the sums of the batches that are not folded yet. Few are: fold them first. */
export async function unfoldedSums(
  query: Query,
): Promise<{ impressions: RollupSum[]; plays: PlacesOfPlays }> {
  const mark = 'SELECT received_at, seq FROM signage.rollup_mark';
  const batches = await nextBatches(query, mark, null);
  return { impressions: sumsOf(batches), plays: playsOf(batches) };
}

async function nextBatches(
  query: Query,
  selectPosition: string,
  limit: number | null,
): Promise<readonly CountedBatch[]> {
  const [position] = (await query<Position>(selectPosition)) as [Position];
  return query<CountedBatch>(
    `SELECT received_at, seq, tenant_id, venue_id, screen_id, simulated, offsets, counts FROM signage.batches
      WHERE received_at >= $1::bigint AND (received_at, seq) > ($1::bigint, $2::bigint) ORDER BY received_at, seq LIMIT $3`,
    [position.received_at, position.seq, limit],
  );
}

/** Folds the next batches. Returns the new position. */
async function foldNext(query: Query): Promise<number> {
  const batches = await nextBatches(
    query,
    'SELECT received_at, seq FROM signage.rollup_mark FOR UPDATE',
    batchesPerTransaction,
  );
  const last = batches.at(-1);
  // No batch is left to fold: the remaining ones were dropped with their partitions.
  if (!last) return Number.POSITIVE_INFINITY;
  const sums = sumsOf(batches);
  if (sums.length > 0) await query(upsertCounts, [JSON.stringify(sums), maxSeconds]);
  await storePlays(query, playsOf(batches));
  await query('UPDATE signage.rollup_mark SET received_at = $1, seq = $2', [
    last.received_at,
    last.seq,
  ]);
  return last.seq;
}

type RollupSum = {
  scope: string;
  clock: string;
  grouped: string;
  day: string;
  key: string;
} & ImpressionCount;

/** Sums the plays of batches by place. */
function playsOf(batches: readonly CountedBatch[]): PlacesOfPlays {
  const places: PlacesOfPlays = new Map();
  for (const batch of batches) {
    const { offsets, counts } = batch;
    if (counts === null || offsets === null) continue;
    addPlays(places, {
      tenantId: batch.tenant_id,
      venueId: batch.venue_id,
      screenId: batch.screen_id,
      simulated: batch.simulated === true,
      receivedAt: batch.received_at,
      offsets,
      counts,
    });
  }
  return places;
}

/** Sums the counts of batches of 0.1.0 per tenant and per venue. */
function sumsOf(batches: readonly CountedBatch[]): RollupSum[] {
  const cells = new Map<string, ImpressionCount>();
  for (const batch of batches) {
    const { received_at, venue_id, screen_id, counts } = batch;
    if (counts === null || batch.offsets !== null) continue;
    const scopes = scopesOf({
      tenantId: batch.tenant_id,
      venueId: venue_id,
      simulated: batch.simulated === true,
    });
    const days = dayCounts(counts, { venueId: venue_id, screenId: screen_id }, dayOf(received_at));
    for (const { clock, day, cells: more } of days) {
      for (const [group, key, cell] of more) {
        for (const scope of scopes)
          addCount(cells, JSON.stringify([scope, clock, group, day, key]), cell);
      }
    }
  }
  return [...cells].map(([name, sums]) => {
    const [scope, clock, grouped, day, key] = JSON.parse(name) as [
      string,
      string,
      string,
      string,
      string,
    ];
    return { scope, clock, grouped, day, key, ...sums };
  });
}

const upsertCounts = `INSERT INTO signage.rollups AS r (scope, clock, grouped, day, key, impressions, seconds)
  SELECT scope, clock, grouped, day, key, impressions, least(seconds, $2::double precision)
  FROM json_to_recordset($1::text::json)
    AS s (scope text, clock text, grouped text, day text, key text, impressions bigint, seconds double precision)
  ON CONFLICT (scope, clock, grouped, day, key) DO UPDATE
    SET impressions = r.impressions + excluded.impressions, seconds = least(r.seconds + excluded.seconds, $2::double precision)`;
