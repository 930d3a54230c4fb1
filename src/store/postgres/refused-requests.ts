import type { TvRequestView } from '../../domain/records/tv-request.ts';
import type { LoggedTvRequest, TvRequestPageQuery } from '../queries.ts';
import type { RefusedRequests } from '../store.ts';
import type { Database } from './connection/database.ts';
import { Conditions } from './connection/query.ts';

/**
 * Numbers of requests that `trim` keeps, in total and per source. A source is a device. For each
 * screen, all requests without a known key are one more source. One request takes at most about 2
 * KiB.
 */
const keptRequests = { total: 50_000, perSource: 200 };

/** Refused requests of TVs in an unlogged table, shared by all instances. */
export class RefusedRequestsTable implements RefusedRequests {
  readonly #database: Database;
  readonly #kept: typeof keptRequests;

  constructor(database: Database, kept = keptRequests) {
    this.#database = database;
    this.#kept = kept;
  }

  /** Writes a batch with one statement. */
  async append(requests: readonly LoggedTvRequest[]): Promise<void> {
    const rows = requests.map(({ tenantId, venueId, request }) => ({
      id: request.id,
      at: Date.parse(request.at),
      tenant_id: tenantId,
      venue_id: venueId,
      screen_id: request.screenId,
      device_id: request.deviceId,
      request: JSON.stringify(request),
    }));
    await this.#database.query(insertRequests, [JSON.stringify(rows)]);
  }

  async page(query: TvRequestPageQuery): Promise<LoggedTvRequest[]> {
    const { tenantId, venueIds, screenId, deviceId, from, to, after, limit } = query;
    const where = new Conditions();
    where.add('tenant_id = $', tenantId);
    where.add('venue_id = ANY ($::text[])', venueIds);
    where.add('screen_id = $', screenId);
    where.add('device_id = $', deviceId);
    where.add('at >= $::bigint', from);
    where.add('at < $::bigint', to);
    where.add('id < $', after);
    const rows = await this.#database.query<{ venueId: string; request: string }>(
      `SELECT venue_id AS "venueId", request FROM signage.refused_requests WHERE ${where.text}
        ORDER BY id DESC LIMIT ${where.parameter(limit)}`,
      where.parameters,
    );
    return rows.map(({ venueId, request }) => ({
      tenantId,
      venueId,
      request: JSON.parse(request) as TvRequestView,
    }));
  }

  /**
   * Deletes the oldest requests beyond the limit of each source, then the oldest beyond the total
   * limit.
   */
  async trim(): Promise<void> {
    await this.#database.query(deleteOldestOfSources, [this.#kept.perSource]);
    await this.#database.query(deleteOldest, [this.#kept.total]);
  }
}

const insertRequests = `INSERT INTO signage.refused_requests
  SELECT * FROM json_populate_recordset(NULL::signage.refused_requests, $1::text::json) ON CONFLICT DO NOTHING`;
/** Ids sort by time. */
const deleteOldestOfSources = `DELETE FROM signage.refused_requests WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY screen_id, device_id ORDER BY id DESC) AS number
      FROM signage.refused_requests) numbered
  WHERE number > $1)`;
const deleteOldest = `DELETE FROM signage.refused_requests WHERE id <= (
  SELECT id FROM signage.refused_requests ORDER BY id DESC OFFSET $1 LIMIT 1)`;
