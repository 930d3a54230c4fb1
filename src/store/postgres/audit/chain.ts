import type { Random } from '../../../domain/clock.ts';
import { type ChainHead, ChainKey, type ChainState } from '../../audit/audit-chain.ts';
import type { Query } from '../connection/query.ts';

/**
 * Stores the keys with which the database links entries (`signage.make_changes`). The first
 * instance on a store also creates the writer id of the chain.
 */
export async function openChain(
  query: Query,
  secret: Uint8Array,
  random: Random,
): Promise<ChainKey> {
  const key = new ChainKey(secret);
  const { inner, outer } = key.pads();
  await query(
    'UPDATE signage.server SET audit_inner = $1::bytea, audit_outer = $2::bytea WHERE (audit_inner, audit_outer) IS DISTINCT FROM ($1::bytea, $2::bytea)',
    [inner, outer],
  );
  await query(
    `INSERT INTO signage.audit_chain (writer) VALUES ($1)
      ON CONFLICT (one) DO UPDATE SET writer = excluded.writer WHERE audit_chain.writer IS NULL`,
    [Buffer.from(random(8)).toString('hex')],
  );
  return key;
}

interface ChainRow {
  writer: string | null;
  head_writer: string | null;
  head_link: number;
  head_mac: string;
  head_sig: string | null;
  bounds: string | null;
}

/** Reads the state of the chain, which the database stores beside the entries. */
export async function readChain(query: Query): Promise<ChainState> {
  const [row] = await query<ChainRow>(
    `SELECT c.writer, c.head_writer, c.head_link, c.head_mac, c.head_sig, b.bounds
      FROM (SELECT true AS one) o LEFT JOIN signage.audit_chain c USING (one) LEFT JOIN signage.audit_bounds b USING (one)`,
  );
  if (!row) return {};
  const { writer, head_writer: by, head_link: seq, head_mac: mac, head_sig: sig, bounds } = row;
  const head: ChainHead | undefined =
    by === null || sig === null ? undefined : { writer: by, seq, mac, sig };
  const known = bounds === null ? {} : (JSON.parse(bounds) as Pick<ChainState, 'start' | 'gaps'>);
  return { ...known, ...(writer !== null && { writer }), ...(head && { head }) };
}

export async function writeBounds(query: Query, { start, gaps }: ChainState): Promise<void> {
  await query(
    'INSERT INTO signage.audit_bounds (bounds) VALUES ($1) ON CONFLICT (one) DO UPDATE SET bounds = excluded.bounds',
    [JSON.stringify({ ...(start && { start }), ...(gaps && { gaps }) })],
  );
}

/**
 * Writes the chain of a copied store into an empty database. The next start assigns a new writer
 * id.
 */
export async function putChain(query: Query, state: ChainState): Promise<void> {
  const { head } = state;
  await query('DELETE FROM signage.audit_chain');
  if (head) {
    await query(
      'INSERT INTO signage.audit_chain (head_writer, head_link, head_mac, head_sig) VALUES ($1, $2, $3, $4)',
      [head.writer, head.seq, head.mac, head.sig],
    );
  }
  if (state.start || state.gaps) await writeBounds(query, state);
}
