import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { jsonBytes, maxPageBytes, PageRoom } from '../../../domain/page-room.ts';
import type { EventPageQuery, Slice, StoredEvent } from '../../store.ts';
import type { Query } from '../connection/query.ts';

/** Batches fetched at a time: what a page of ordinary ones needs. */
const atOnce = 32;
/** Batches looked at for one of a type, before a page returns what it has. */
const mostLookedAt = 20_000;
/** The largest place in a batch that an event's id can name. */
const lastIndex = 0xff;

interface Batch {
  received_at: number;
  seq: number;
  screen_id: string;
  device_id: string;
  /** `null` for one that was looked at in vain. */
  body: string | null;
  /** Bytes of the bodies up to and including this one. */
  bytes: number;
}

/** Where in the log a page is: after this batch, or at this place within it. */
interface Position {
  receivedAt: number;
  seq: number;
  index: number;
}

/** One page of the log's events. */
export async function eventPage(ask: Query, query: EventPageQuery): Promise<Slice<StoredEvent>> {
  const given = query.after === undefined ? undefined : eventPosition(query.after);
  // An id that no event has: nothing comes after it.
  if (query.after !== undefined && !given) return { items: [], next: null };
  let after = given && { receivedAt: given.receivedAtMs, seq: given.batch, index: given.index };
  const items: StoredEvent[] = [];
  const room = new PageRoom();
  for (;;) {
    const batches = await ask<Batch>(...pageStatement(query, after));
    for (const batch of batches) {
      for (const item of eventsOf(batch, query, after)) {
        if (items.length === query.limit || !room.take(jsonBytes(item.event)))
          return { items, next: (items.at(-1) as StoredEvent).id };
        items.push(item);
      }
    }
    const last = batches.at(-1);
    if (!last) return { items, next: null };
    after = {
      receivedAt: last.received_at,
      seq: last.seq,
      index: query.order === 'asc' ? lastIndex : 0,
    };
    if (last.body === null) return { items, next: idAt(after) };
    if (batches.length < atOnce && last.bytes <= maxPageBytes) return { items, next: null };
  }
}

function idAt({ receivedAt, seq, index }: Position): string {
  return eventId({ receivedAtMs: receivedAt, batch: seq, index });
}

/** The batch's events that are after the position, and of the type, in the page's order. */
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

/** The batch of `after` itself is among them, for the rest of its events. Of a type: those that have it, and at the end the last one looked at. */
function pageStatement(
  query: EventPageQuery,
  after: Position | undefined,
): [text: string, parameters: unknown[]] {
  const parameters: unknown[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const { tenantId, venueIds, deviceId, screenId, type, from, to, order } = query;
  const conditions = [`tenant_id = ${parameter(tenantId)}`];
  if (venueIds) conditions.push(`venue_id = ANY (${parameter(venueIds)}::text[])`);
  if (deviceId !== undefined) conditions.push(`device_id = ${parameter(deviceId)}`);
  if (screenId !== undefined) conditions.push(`screen_id = ${parameter(screenId)}`);
  if (from !== undefined) conditions.push(`received_at >= ${parameter(from)}::bigint`);
  if (to !== undefined) conditions.push(`received_at < ${parameter(to)}::bigint`);
  if (after) {
    const beyond = after.index === lastIndex || (order === 'desc' && after.index === 0) ? '' : '=';
    const sign = order === 'asc' ? '>' : '<';
    const [at, seq] = [parameter(after.receivedAt), parameter(after.seq)];
    // The first of the two lets PostgreSQL pass over whole days.
    conditions.push(
      `received_at ${sign}= ${at}::bigint`,
      `(received_at, seq) ${sign}${beyond} (${at}::bigint, ${seq}::bigint)`,
    );
  }
  const sorted = `ORDER BY received_at ${order}, seq ${order}`;
  const columns = 'received_at, seq, screen_id, device_id';
  const matching = `FROM signage.batches WHERE ${conditions.join(' AND ')} ${sorted}`;
  if (type === undefined)
    return [upToPage(`SELECT ${columns}, body ${matching} LIMIT ${atOnce}`, sorted), parameters];
  const text = `WITH near AS (SELECT ${columns}, types ${matching} LIMIT ${mostLookedAt}),
      fitting AS (SELECT ${columns} FROM near WHERE ${parameter(type)} = ANY (types) ${sorted} LIMIT ${atOnce}),
      looked AS (SELECT ${columns} FROM near ORDER BY received_at ${order === 'asc' ? 'DESC' : 'ASC'}, seq ${order === 'asc' ? 'DESC' : 'ASC'} LIMIT 1)
    SELECT f.*, b.body FROM fitting f JOIN signage.batches b USING (received_at, seq)
    UNION ALL SELECT l.*, NULL FROM looked l
      WHERE (SELECT count(*) FROM near) = ${mostLookedAt} AND (SELECT count(*) FROM fitting) < ${atOnce}
    ${sorted}`;
  return [upToPage(text, sorted), parameters];
}

/** The batches of a statement, up to the first one with which they are more than a page holds. */
function upToPage(statement: string, sorted: string): string {
  return `SELECT * FROM (
      SELECT found.*, coalesce(sum(octet_length(body)) OVER (${sorted} ROWS UNBOUNDED PRECEDING), 0) AS bytes FROM (${statement}) found) sized
    WHERE bytes - coalesce(octet_length(body), 0) <= ${maxPageBytes} ${sorted}`;
}
