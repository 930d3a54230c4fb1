import { isDeepStrictEqual } from 'node:util';
import { SignageError } from '../../domain/error.ts';
import { publicUrl } from '../../domain/store-url.ts';
import { ChainKey, isSealed } from '../audit/audit-chain.ts';
import {
  type AuditFinding,
  type AuditSummary,
  AuditVerifier,
  type KeptHead,
} from '../audit/audit-verifier.ts';
import { readChain } from './audit/chain.ts';
import { type AuditTableRow, readRow } from './audit/trail.ts';
import { connectTo, longTimeouts } from './connection/connect.ts';
import { Database } from './connection/database.ts';
import type { Query } from './connection/query.ts';
import { beginSnapshot } from './dump/database-source.ts';
import { migrate } from './migration/migrate.ts';
import { auditColumns } from './rows/transaction-steps.ts';

const pageRows = 1000;

type VerifiedRow = AuditTableRow & Record<string, unknown>;

/**
 * Verifies the audit trail of a database in one snapshot; instances may be running. Throws
 * `store_unreachable`, `store_unusable`.
 */
export async function checkDatabaseTrail(
  url: string,
  kept?: KeptHead,
): Promise<{ findings: AuditFinding[]; summary: AuditSummary }> {
  return connectTo(url, async (connect) => {
    if ((await migrate(connect, { dryRun: true })).length > 0)
      throw unusable(url, 'its schema is missing: it is not the database of a service');
    const database = new Database(connect, longTimeouts);
    try {
      return await database.transaction(beginSnapshot, (query) => checkTrail(query, url, kept));
    } finally {
      await database.close();
    }
  });
}

async function checkTrail(
  query: Query,
  url: string,
  kept: KeptHead | undefined,
): Promise<{ findings: AuditFinding[]; summary: AuditSummary }> {
  const [server] = await query<{ secret: string }>('SELECT secret FROM signage.server');
  if (!server) throw unusable(url, 'it holds no data');
  const key = new ChainKey(Buffer.from(server.secret, 'hex'));
  const verifier = new AuditVerifier(key, await readChain(query), kept);
  const findings: AuditFinding[] = [];
  for await (const row of readRows(query))
    for (const one of verifyRow(verifier, row)) findings.push(one);
  for (const one of verifier.end()) findings.push(one);
  return { findings, summary: verifier.summary };
}

function unusable(url: string, why: string): SignageError {
  return new SignageError(
    'store_unusable',
    `The audit trail of ${publicUrl(url)} cannot be verified: ${why}.`,
  );
}

async function* readRows(query: Query): AsyncGenerator<VerifiedRow> {
  for (let after = -1; ; ) {
    const rows = await query<VerifiedRow>(
      `SELECT seq, entry, writer, link, mac, at, tenant_id, action, subject_id, venue_ids FROM signage.audit
        WHERE seq > $1 ORDER BY seq LIMIT ${pageRows}`,
      [after],
    );
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = last.seq;
  }
}

/**
 * Verifies an entry and its columns. Queries find entries by these columns, so they must match the
 * entry.
 */
function verifyRow(verifier: AuditVerifier, row: VerifiedRow): AuditFinding[] {
  const sealed = readRow(row);
  const found = verifier.take(sealed);
  if (!isSealed(sealed) || found.some(({ level }) => level === 'damage')) return found;
  const { entry: _entry, ...columns } = auditColumns(sealed.entry);
  const wrong = Object.entries(columns).filter(
    ([column, value]) => !isDeepStrictEqual(row[column], value),
  );
  if (wrong.length === 0) return found;
  const { link, entry } = sealed;
  const place = { writer: link.writer, sequence: link.seq, at: null, id: entry.id };
  return [
    ...found,
    {
      level: 'damage',
      ...place,
      what: `the columns that it is found by were changed: ${wrong.map(([column]) => column).join(', ')}`,
    },
  ];
}
