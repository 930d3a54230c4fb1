import { dayMs } from '../../../domain/clock.ts';
import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { PageRoom } from '../../../domain/page-room.ts';
import { dayOf } from '../../../domain/records/report.ts';
import type { AuditEntry } from '../../../domain/records/rows.ts';
import {
  type AuditLink,
  type ChainKey,
  type ChainStart,
  type ChainState,
  isSealed,
  type SealedEntry,
} from '../../audit/audit-chain.ts';
import { AuditVerifier } from '../../audit/audit-verifier.ts';
import type { AuditPageQuery, Slice } from '../../store.ts';
import type { Database } from '../connection/database.ts';
import type { Query } from '../connection/query.ts';
import { keptText } from '../rows/columns.ts';
import { readChain, writeBounds } from './chain.ts';

/** Entries that are verified and deleted in one transaction. */
const atOnce = 2000;

/** A cursor has the form of an event's id. */
const cursorOf = (seq: number) => eventId({ receivedAtMs: 0, batch: seq, index: 0 });

/** One page of the trail, newest first. */
export async function auditPage(ask: Query, query: AuditPageQuery): Promise<Slice<AuditEntry>> {
  const { tenantIds, venueIds, action, subjectId, from, to, limit } = query;
  const after = query.after === undefined ? undefined : eventPosition(query.after);
  if (query.after !== undefined && !after) return { items: [], next: null };
  const parameters: unknown[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const conditions = [
    `tenant_id = ANY (${parameter(tenantIds.map((id) => keptText(id ?? '')))}::text[])`,
  ];
  if (venueIds)
    conditions.push(`venue_ids <> '{}' AND venue_ids <@ ${parameter(venueIds)}::text[]`);
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
    if (items.length === limit || !room.take(Buffer.byteLength(entry)))
      return { items, next: cursorOf(lastSeq) };
    items.push(JSON.parse(entry) as AuditEntry);
    lastSeq = seq;
  }
  return { items, next: null };
}

/** An entry as the table has it, with what it is found by. */
export interface AuditTableRow {
  seq: number;
  entry: string;
  writer: string | null;
  link: number | null;
  mac: string | null;
}

export function sealedRow({ entry, writer, link, mac }: AuditTableRow): SealedEntry {
  const sealed = { entry: JSON.parse(entry) as AuditEntry };
  return writer === null || link === null || mac === null
    ? sealed
    : { ...sealed, link: { writer, seq: link, mac } };
}

/** The same; `undefined` when somebody has put something else there. */
export function readRow(row: AuditTableRow): SealedEntry | undefined {
  try {
    const sealed = sealedRow(row);
    return isSealed(sealed) ? sealed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Deletes the entries of the days before that of `timeMs`, up to the first of a later day: the chain
 * loses its beginning, and no entry in between. Answers whether all of them verified; the chain's new
 * start is signed only then.
 */
export async function dropAuditBefore(
  database: Database,
  key: ChainKey,
  timeMs: number,
): Promise<boolean> {
  const firstMs = Math.floor(timeMs / dayMs) * dayMs;
  const day = dayOf(firstMs);
  let isSound = true;
  for (let found = atOnce; found === atOnce; ) {
    const [{ old } = { old: false }] = await database.ask<{ old: boolean }>(
      'SELECT coalesce((SELECT at < $1 FROM signage.audit ORDER BY seq LIMIT 1), false) AS old',
      [firstMs],
    );
    if (!old) return isSound;
    found = await database.transaction(
      'BEGIN; LOCK TABLE signage.audit_bounds IN EXCLUSIVE MODE',
      async (ask) => {
        const rows = await ask<AuditTableRow & { at: number }>(
          `SELECT seq, at, entry, writer, link, mac FROM signage.audit ORDER BY seq LIMIT ${atOnce}`,
        );
        const kept = rows.findIndex(({ at }) => at >= firstMs);
        const dropped = kept < 0 ? rows : rows.slice(0, kept);
        const last = dropped.at(-1);
        if (!last) return 0;
        const { head: _head, ...state } = await readChain(ask);
        const start = nextStart(key, state, dropped, day);
        if (start) await writeBounds(ask, { ...state, start });
        else isSound &&= dropped.every(({ mac }) => mac === null);
        await ask('DELETE FROM signage.audit WHERE seq <= $1', [last.seq]);
        return dropped.length;
      },
    );
  }
  return isSound;
}

/** The start after these entries; `undefined` when they do not verify, or have no links. */
function nextStart(
  key: ChainKey,
  state: ChainState,
  rows: readonly AuditTableRow[],
  day: string,
): ChainStart | undefined {
  const verifier = new AuditVerifier(key, state);
  let last: AuditLink | undefined;
  for (const row of rows) {
    const sealed = readRow(row);
    if (verifier.take(sealed).some(({ level }) => level === 'damage')) return undefined;
    last = sealed?.link ?? last;
  }
  return last && key.start(last, day);
}
