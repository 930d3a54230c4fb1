import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { jsonBytes, maxPageBytes, PageRoom } from '../../../domain/page-room.ts';
import type { EventPageQuery, Slice, StoredEvent } from '../../store.ts';
import { Conditions, type Query } from '../connection/query.ts';

/** Batches fetched at a time: enough for a page of typical batches. */
const batchesPerQuery = 32;
/** Maximum number of batches scanned for an event type before a page returns early. */
const maxScanned = 20_000;
/** The largest index of an event in a batch that an event id can encode. */
const lastIndex = 0xff;

interface Batch {
  received_at: number;
  seq: number;
  screen_id: string;
  device_id: string;
  /** `null` for the last scanned batch, which is added if the scan ended without enough matches. */
  body: string | null;
  /** Running total of body bytes, this batch included. */
  bytes: number;
}

/** Position in the log: event `index` of batch `seq`. The next page starts after it. */
interface Position {
  receivedAt: number;
  seq: number;
  index: number;
}

/** Returns one page of the log's events. */
export async function eventPage(
  query: Query,
  pageQuery: EventPageQuery,
): Promise<Slice<StoredEvent>> {
  const given = pageQuery.after === undefined ? undefined : eventPosition(pageQuery.after);
  // Not a valid event id: nothing comes after it.
  if (pageQuery.after !== undefined && !given) return { items: [], next: null };
  let after = given && { receivedAt: given.receivedAtMs, seq: given.batch, index: given.index };
  const items: StoredEvent[] = [];
  const room = new PageRoom();
  for (;;) {
    const batches = await query<Batch>(...pageStatement(pageQuery, after));
    for (const batch of batches) {
      for (const item of eventsOf(batch, pageQuery, after)) {
        if (items.length === pageQuery.limit || !room.take(jsonBytes(item.event)))
          return { items, next: (items.at(-1) as StoredEvent).id };
        items.push(item);
      }
    }
    const last = batches.at(-1);
    if (!last) return { items, next: null };
    after = {
      receivedAt: last.received_at,
      seq: last.seq,
      index: pageQuery.order === 'asc' ? lastIndex : 0,
    };
    if (last.body === null) return { items, next: idAt(after) };
    if (batches.length < batchesPerQuery && last.bytes <= maxPageBytes)
      return { items, next: null };
  }
}

function idAt({ receivedAt, seq, index }: Position): string {
  return eventId({ receivedAtMs: receivedAt, batch: seq, index });
}

/** Returns the matching events of the batch after the position, in the page's order. */
function eventsOf(
  batch: Batch,
  { order, type }: EventPageQuery,
  after: Position | undefined,
): StoredEvent[] {
  const { received_at: receivedAt, seq, screen_id: screenId, device_id: deviceId } = batch;
  const events = JSON.parse(batch.body ?? '[]') as Record<string, unknown>[];
  const isAfter = (index: number) =>
    after?.seq !== seq || (order === 'asc' ? index > after.index : index < after.index);
  const found = events.flatMap((event, index): StoredEvent[] => {
    if (!isAfter(index) || (type !== undefined && event.type !== type)) return [];
    return [{ id: idAt({ receivedAt, seq, index }), deviceId, screenId, receivedAt, event }];
  });
  return order === 'asc' ? found : found.reverse();
}

/**
 * Returns the statement for the next batches, including the batch of `after` if it may have more
 * events. With a type, the statement returns the batches that contain it. If it finds too few, it
 * also returns the last scanned batch.
 */
function pageStatement(
  pageQuery: EventPageQuery,
  after: Position | undefined,
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
    const seq = where.parameter(after.seq);
    // Lets PostgreSQL skip whole partitions.
    where.add(`received_at ${sign}= $::bigint`, after.receivedAt);
    where.add(`(received_at, seq) ${sign}${beyond} ($::bigint, ${seq}::bigint)`, after.receivedAt);
  }
  const sorted = `ORDER BY received_at ${order}, seq ${order}`;
  const reversed = order === 'asc' ? 'DESC' : 'ASC';
  const columns = 'received_at, seq, screen_id, device_id';
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
  return `SELECT * FROM (
      SELECT found.*, coalesce(sum(octet_length(body)) OVER (${sorted} ROWS UNBOUNDED PRECEDING), 0) AS bytes FROM (${statement}) found) sized
    WHERE bytes - coalesce(octet_length(body), 0) <= ${maxPageBytes} ${sorted}`;
}
