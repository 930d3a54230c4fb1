import { type EventPosition, eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { jsonBytes, maxPageBytes, PageItems } from '../../../domain/page-items.ts';
import { lastIndex, matchingEvents } from '../../event-items.ts';
import type { EventPageQuery, Slice, StoredEvent } from '../../queries.ts';
import { Conditions, type Query } from '../connection/query.ts';

/** Batches fetched at a time: enough for a page of typical batches. */
const batchesPerQuery = 32;
/** Maximum number of batches scanned for an event type before a page returns early. */
const maxScanned = 20_000;

interface EventBatchRow {
  receivedAt: number;
  seq: number;
  screenId: string;
  deviceId: string;
  offsetMs: number | null;
  venueId: string;
  simulated: boolean | null;
  /** JSON. */
  offsets: string | null;
  /**
   * The events as JSON text. `null` in a row that only marks where a scan without enough matches
   * ended.
   */
  body: string | null;
  /** Running total of body bytes, this batch included. */
  bytes: number;
}

/** Returns one page of the log's events. */
export async function eventPage(
  query: Query,
  pageQuery: EventPageQuery,
): Promise<Slice<StoredEvent>> {
  let after = pageQuery.after === undefined ? undefined : eventPosition(pageQuery.after);
  // Not a valid event id: nothing comes after it.
  if (pageQuery.after !== undefined && !after) return { items: [], next: null };
  const page = new PageItems<StoredEvent>(pageQuery.limit);
  for (;;) {
    const batches = await query<EventBatchRow>(...pageStatement(pageQuery, after));
    for (const batch of batches) {
      const events = JSON.parse(batch.body ?? '[]') as Record<string, unknown>[];
      const offsets = batch.offsets === null ? undefined : JSON.parse(batch.offsets);
      for (const item of matchingEvents({ ...batch, offsets }, events, pageQuery, after)) {
        if (!page.add(item, jsonBytes(item.event)))
          return { items: page.items, next: (page.items.at(-1) as StoredEvent).id };
      }
    }
    const last = batches.at(-1);
    if (!last) return { items: page.items, next: null };
    after = {
      receivedAtMs: last.receivedAt,
      batch: last.seq,
      index: pageQuery.order === 'asc' ? lastIndex : 0,
    };
    if (last.body === null) return { items: page.items, next: eventId(after) };
    if (batches.length < batchesPerQuery && last.bytes <= maxPageBytes)
      return { items: page.items, next: null };
  }
}

/**
 * Returns the statement for the next batches, including the batch of `after` if it may have more
 * events. With a type, the statement returns the batches that contain it. If it finds too few, it
 * also returns the last scanned batch.
 */
function pageStatement(
  pageQuery: EventPageQuery,
  after: EventPosition | undefined,
): [text: string, parameters: unknown[]] {
  const { tenantId, venueIds, deviceId, screenId, type, from, to, order } = pageQuery;
  const where = new Conditions();
  where.add('tenant_id = $', tenantId);
  where.add('venue_id = ANY ($::text[])', venueIds);
  where.add('device_id = $', deviceId);
  where.add('screen_id = $', screenId);
  where.add('received_at >= $::bigint', from);
  where.add('received_at < $::bigint', to);
  if (after) {
    const beyond = after.index === lastIndex || (order === 'desc' && after.index === 0) ? '' : '=';
    const sign = order === 'asc' ? '>' : '<';
    const seq = where.parameter(after.batch);
    // Lets PostgreSQL skip whole partitions.
    where.add(`received_at ${sign}= $::bigint`, after.receivedAtMs);
    where.add(
      `(received_at, seq) ${sign}${beyond} ($::bigint, ${seq}::bigint)`,
      after.receivedAtMs,
    );
  }
  const sorted = `ORDER BY received_at ${order}, seq ${order}`;
  const reversed = order === 'asc' ? 'DESC' : 'ASC';
  const columns = 'received_at, seq, screen_id, device_id, offset_ms, venue_id, simulated, offsets';
  const matching = `FROM signage.batches WHERE ${where.text} ${sorted}`;
  if (type === undefined)
    return [
      upToPage(`SELECT ${columns}, body ${matching} LIMIT ${batchesPerQuery}`, sorted),
      where.parameters,
    ];
  const text = `WITH near AS (SELECT ${columns}, types ${matching} LIMIT ${maxScanned}),
      matches AS (SELECT ${columns} FROM near WHERE ${where.parameter(type)} = ANY (types) ${sorted} LIMIT ${batchesPerQuery}),
      scanned AS (SELECT ${columns} FROM near ORDER BY received_at ${reversed}, seq ${reversed} LIMIT 1)
    SELECT f.*, b.body FROM matches f JOIN signage.batches b USING (received_at, seq)
    UNION ALL SELECT l.*, NULL FROM scanned l
      WHERE (SELECT count(*) FROM near) = ${maxScanned} AND (SELECT count(*) FROM matches) < ${batchesPerQuery}
    ${sorted}`;
  return [upToPage(text, sorted), where.parameters];
}

/**
 * Limits a statement to the batches that fit on one page. The batch that crosses the limit is
 * included.
 */
function upToPage(statement: string, sorted: string): string {
  return `SELECT received_at AS "receivedAt", seq, screen_id AS "screenId", device_id AS "deviceId", offset_ms AS "offsetMs", venue_id AS "venueId", simulated, offsets, body, bytes FROM (
      SELECT found.*, coalesce(sum(octet_length(body)) OVER (${sorted} ROWS UNBOUNDED PRECEDING), 0) AS bytes FROM (${statement}) found) sized
    WHERE bytes - coalesce(octet_length(body), 0) <= ${maxPageBytes} ${sorted}`;
}
