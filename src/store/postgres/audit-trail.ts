import { dayMs } from '../../domain/clock.ts';
import { eventId, eventPosition } from '../../domain/event-id.ts';
import { PageRoom } from '../../domain/page-room.ts';
import type { AuditEntry } from '../../domain/records.ts';
import type { AuditPageQuery, Slice } from '../store.ts';
import type { Ask } from './ask.ts';
import { keptText } from './columns.ts';

/** Entries deleted by one statement. */
const atOnce = 10_000;

/** A cursor has the form of an event's id. */
const cursorOf = (seq: number) => eventId({ receivedAtMs: 0, batch: seq, index: 0 });

/** One page of the trail, newest first. */
export async function auditPage(ask: Ask, query: AuditPageQuery): Promise<Slice<AuditEntry>> {
  const { tenantIds, venueIds, action, subjectId, from, to, limit } = query;
  const after = query.after === undefined ? undefined : eventPosition(query.after);
  if (query.after !== undefined && !after) return { items: [], next: null };
  const parameters: unknown[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const conditions = [`tenant_id = ANY (${parameter(tenantIds.map((id) => keptText(id ?? '')))}::text[])`];
  if (venueIds) conditions.push(`venue_ids <> '{}' AND venue_ids <@ ${parameter(venueIds)}::text[]`);
  if (action !== undefined) conditions.push(`action = ${parameter(keptText(action))}`);
  if (subjectId !== undefined) conditions.push(`subject_id = ${parameter(keptText(subjectId))}`);
  if (from !== undefined) conditions.push(`at >= ${parameter(from)}::bigint`);
  if (to !== undefined) conditions.push(`at < ${parameter(to)}::bigint`);
  if (after) conditions.push(`seq < ${parameter(after.batch)}::bigint`);
  const text = `SELECT seq, entry FROM signage.audit WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ${parameter(limit + 1)}`;
  const rows = await ask<{ seq: number; entry: string }>(text, parameters);
  const items: AuditEntry[] = [];
  const room = new PageRoom();
  let lastSeq = 0;
  for (const { seq, entry } of rows) {
    if (items.length === limit || !room.take(Buffer.byteLength(entry))) return { items, next: cursorOf(lastSeq) };
    items.push(JSON.parse(entry) as AuditEntry);
    lastSeq = seq;
  }
  return { items, next: null };
}

/** Deletes the entries of the days before that of `timeMs`. */
export async function dropAuditBefore(ask: Ask, timeMs: number): Promise<void> {
  const firstMs = Math.floor(timeMs / dayMs) * dayMs;
  const text = `WITH old AS (SELECT seq FROM signage.audit WHERE at < $1 ORDER BY at LIMIT ${atOnce}),
      gone AS (DELETE FROM signage.audit WHERE seq IN (SELECT seq FROM old) RETURNING 1)
    SELECT count(*) AS found FROM gone`;
  for (let found = atOnce; found === atOnce; ) [{ found } = { found: 0 }] = await ask<{ found: number }>(text, [firstMs]);
}
