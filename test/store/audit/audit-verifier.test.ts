import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/records/audit.ts';
import { type AuditLink, ChainKey, type ChainState } from '../../../src/store/audit/audit-chain.ts';
import { AuditVerifier, type KeptHead } from '../../../src/store/audit/audit-verifier.ts';

const key = new ChainKey(new Uint8Array(32).fill(7));

function entryOf(n: number): AuditEntry {
  return {
    id: `entry-${n}`,
    at: Date.UTC(2026, 10, 1) + n,
    tenantId: null,
    actor: { kind: 'system', id: null, name: null },
    action: 'screen.update',
    subject: { kind: 'screen', id: null },
    address: null,
    requestId: null,
    details: {},
  };
}

interface Linked {
  entry: AuditEntry;
  link: AuditLink;
}

/** A chain of `count` entries of one writer that continues from `before`. */
function chainOf(count: number, writer = 'w1', before?: AuditLink): Linked[] {
  const linked: Linked[] = [];
  let last = before;
  for (let n = 1; n <= count; n++) {
    const entry = entryOf(n);
    last = key.link(writer, last, JSON.stringify(entry));
    linked.push({ entry, link: last });
  }
  return linked;
}

const linkAt = (chain: readonly Linked[], seq: number) =>
  (chain.find(({ link }) => link.seq === seq) as Linked).link;
const keptOf = ({ writer, seq, mac }: AuditLink): KeptHead => ({ writer, sequence: seq, mac });

/** Findings of a verification, as `level: what`. */
function findings(entries: readonly Linked[], state: ChainState, kept?: KeptHead): string[] {
  const verifier = new AuditVerifier(key, state, kept);
  const found = entries.flatMap((sealed) => verifier.take(sealed));
  return [...found, ...verifier.end()].map(({ level, what }) => `${level}: ${what}`);
}

describe('AuditVerifier', () => {
  const chain = chainOf(5);
  const head = key.head(linkAt(chain, 5));

  it('accepts a complete chain with its signed head and a kept head', () => {
    expect(findings(chain, { head }, keptOf(linkAt(chain, 3)))).toEqual([]);
  });

  it('reports a missing signed head, and a changed one', () => {
    expect(findings(chain, {})).toEqual(['damage: the signed head of the trail is missing']);
    expect(findings(chain, { head: { ...head, seq: 4 } })).toEqual([
      'damage: the signed head of the trail was changed',
    ]);
  });

  it('reports an entry that differs from the signed head', () => {
    const other = key.head({ ...linkAt(chain, 4), mac: 'another' });
    expect(findings(chain.slice(0, 4), { head: other })).toEqual([
      'damage: the entry is not the one that the signed head names',
    ]);
  });

  it('reports a new chain that begins in the middle', () => {
    const again = chainOf(2, 'w2');
    expect(
      findings([...chain, ...again], { head: key.head((again[1] as Linked).link) }),
    ).toContainEqual('damage: a new chain begins here: the entries before it are not protected');
  });

  it('reports an entry that differs from the kept head, with its new writer', () => {
    const kept = { ...keptOf(linkAt(chain, 3)), mac: 'another' };
    expect(findings(chain, { head }, kept)).toEqual([
      'damage: the entry is not the one that the kept head names (writer w1)',
    ]);
    expect(findings(chain, { head }, { ...kept, writer: 'w0' })).toEqual([
      'damage: the entry is not the one that the kept head names (writer w0): w1 has rewritten the trail, for example after a backup was restored',
    ]);
  });

  it('continues from the signed start that retention left, and reports a changed one', () => {
    const start = key.start(linkAt(chain, 2), '2026-11-02');
    const rest = chain.slice(2);
    expect(findings(rest, { start, head })).toEqual([]);
    const changed = findings(rest, { start: { ...start, day: '2026-11-01' }, head });
    expect(changed[0]).toBe('damage: the signed start of the trail was changed');
  });

  it('notes a kept head older than the remaining entries', () => {
    const start = key.start(linkAt(chain, 2), '2026-11-02');
    expect(findings(chain.slice(2), { start, head }, keptOf(linkAt(chain, 1)))).toEqual([
      'note: the kept head is older than the entries that retention has kept: keep a newer head',
    ]);
  });

  it('reports a trail that does not continue from a kept head at its start', () => {
    const start = key.start(linkAt(chain, 2), '2026-11-02');
    const kept = { ...keptOf(linkAt(chain, 2)), mac: 'another' };
    expect(findings(chain.slice(2), { start, head }, kept)).toEqual([
      'damage: the trail does not continue from the kept head',
    ]);
    expect(findings(chain.slice(2), { start, head }, keptOf(linkAt(chain, 2)))).toEqual([]);
  });

  it('reports entries missing before a kept head', () => {
    const cut = chain.slice(0, 3);
    expect(findings(cut, { head: key.head(linkAt(cut, 3)) }, keptOf(linkAt(chain, 5)))).toEqual([
      'damage: the trail ends before the kept head: its end was cut off, or an older backup was restored: entries 4 to 5 are missing',
    ]);
  });
});
