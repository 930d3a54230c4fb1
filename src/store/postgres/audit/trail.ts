import { dayMs } from '../../../domain/clock.ts';
import { eventId, eventPosition } from '../../../domain/events/event-id.ts';
import { PageItems } from '../../../domain/page-items.ts';
import type { AuditEntry } from '../../../domain/records/audit.ts';
import { dayOf } from '../../../domain/records/report.ts';
import { type ChainKey, isSealed, type SealedEntry } from '../../audit/audit-chain.ts';
import { startAfter } from '../../audit/audit-verifier.ts';
import type { AuditPageQuery, Slice } from '../../queries.ts';
import type { Database } from '../connection/database.ts';
import { Conditions, type Query } from '../connection/query.ts';
import { storableText } from '../rows/columns.ts';
import { readChain, writeBounds } from './chain.ts';

/** Number of entries verified and deleted in one transaction. */
const batchSize = 2000;

/** A cursor has the format of an event id. */
const cursorOf = (seq: number) => eventId({ receivedAtMs: 0, batch: seq, index: 0 });

/** Returns one page of the trail, newest first. */
export async function auditPage(
  query: Query,
  pageQuery: AuditPageQuery,
): Promise<Slice<AuditEntry>> {
  const { tenantIds, venueIds, action, subjectId, from, to, limit } = pageQuery;
  const after = pageQuery.after === undefined ? undefined : eventPosition(pageQuery.after);
  if (pageQuery.after !== undefined && !after) return { items: [], next: null };
  const where = new Conditions();
  where.add(
    'tenant_id = ANY ($::text[])',
    tenantIds.map((id) => storableText(id ?? '')),
  );
  where.add(`venue_ids <> '{}' AND venue_ids <@ $::text[]`, venueIds);
  where.add('action = $', action && storableText(action));
  where.add('subject_id = $', subjectId && storableText(subjectId));
  where.add('at >= $::bigint', from);
  where.add('at < $::bigint', to);
  where.add('seq < $::bigint', after?.batch);
  const rows = await query<{ seq: number; entry: string }>(
    `SELECT seq, entry FROM signage.audit WHERE ${where.text} ORDER BY seq DESC LIMIT ${where.parameter(limit + 1)}`,
    where.parameters,
  );
  const page = new PageItems<AuditEntry>(limit);
  let lastSeq = 0;
  for (const { seq, entry } of rows) {
    if (!page.add(JSON.parse(entry) as AuditEntry, Buffer.byteLength(entry)))
      return { items: page.items, next: cursorOf(lastSeq) };
    lastSeq = seq;
  }
  return { items: page.items, next: null };
}

/** A row of the audit table, without the columns used only for filtering. */
export interface AuditTableRow {
  seq: number;
  entry: string;
  writer: string;
  link: number;
  mac: string;
}

export function sealedRow({ entry, writer, link: seq, mac }: AuditTableRow): SealedEntry {
  return { entry: JSON.parse(entry) as AuditEntry, link: { writer, seq, mac } };
}

/**
 * Parses a row. Returns `undefined` if its contents are not an audit entry. Leaves out the link of
 * a row without a MAC.
 */
export function readRow(row: AuditTableRow): Partial<SealedEntry> | undefined {
  try {
    const sealed = sealedRow(row);
    if (row.mac === null) return { entry: sealed.entry };
    return isSealed(sealed) ? sealed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Deletes the entries of the days before `timeMs`, oldest first. Stops at the first entry that must
 * be kept, so that the chain has no gaps. Signs a new start of the chain for each batch of entries
 * that verifies. Calls `record` before each deletion. Returns false if entries did not verify.
 */
export async function purgeAuditBefore(
  database: Database,
  key: ChainKey,
  timeMs: number,
  record: () => Promise<void>,
): Promise<boolean> {
  const firstMs = Math.floor(timeMs / dayMs) * dayMs;
  const day = dayOf(firstMs);
  let isValid = true;
  for (let found = batchSize; found === batchSize; ) {
    const [{ old } = { old: false }] = await database.query<{ old: boolean }>(
      'SELECT coalesce((SELECT at < $1 FROM signage.audit ORDER BY seq LIMIT 1), false) AS old',
      [firstMs],
    );
    if (!old) return isValid;
    await record();
    found = await database.transaction(
      'BEGIN; LOCK TABLE signage.audit_bounds IN EXCLUSIVE MODE',
      async (query) => {
        const rows = await query<AuditTableRow & { at: number }>(
          `SELECT seq, at, entry, writer, link, mac FROM signage.audit ORDER BY seq LIMIT ${batchSize}`,
        );
        const kept = rows.findIndex(({ at }) => at >= firstMs);
        const dropped = kept < 0 ? rows : rows.slice(0, kept);
        const last = dropped.at(-1);
        if (!last) return 0;
        const state = await readChain(query);
        const next = await startAfter(key, state, dropped.map(readRow), day);
        if (next.isValid && next.start) await writeBounds(query, { ...state, start: next.start });
        else isValid = false;
        await query('DELETE FROM signage.audit WHERE seq <= $1', [last.seq]);
        return dropped.length;
      },
    );
  }
  return isValid;
}
