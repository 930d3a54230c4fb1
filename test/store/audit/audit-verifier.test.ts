import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/records/audit.ts';
import {
  type AuditLink,
  ChainKey,
  type ChainState,
  type SealedEntry,
} from '../../../src/store/audit/audit-chain.ts';
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

/** A chain of `count` entries of one writer that continues from `before`. */
function chainOf(count: number, writer = 'w1', before?: AuditLink): SealedEntry[] {
  const linked: SealedEntry[] = [];
  let last = before;
  for (let n = 1; n <= count; n++) {
    const entry = entryOf(n);
    last = key.link(writer, last, JSON.stringify(entry));
    linked.push({ entry, link: last });
  }
  return linked;
}

const linkAt = (chain: readonly SealedEntry[], seq: number) =>
  (chain.find(({ link }) => link.seq === seq) as SealedEntry).link;
const keptOf = ({ writer, seq, mac }: AuditLink): KeptHead => ({ writer, sequence: seq, mac });

/** Findings of a verification, as `level: what`. */
function findings(
  entries: readonly Partial<SealedEntry>[],
  state: ChainState,
  kept?: KeptHead,
): string[] {
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

  const long = chainOf(10);
  const whole = { head: key.head(linkAt(long, 10)) };
  const at = (index: number) => long[index] as SealedEntry;
  const unlinked = ({ entry }: SealedEntry) => ({ entry });
  const noMac = 'the entry carries no MAC: inserted, or its MAC was removed';
  it.each<[string, Partial<SealedEntry>[], string[]]>([
    [
      'changed',
      long.with(4, { ...at(4), entry: entryOf(99) }),
      ['the entry, or its link to the previous one, was changed'],
    ],
    ['dropped', long.toSpliced(4, 1), ['before it, entry 5 is missing']],
    [
      'swapped',
      long.with(4, at(5)).with(5, at(4)),
      ['before it, entry 5 is missing', 'the entry is out of order: moved, repeated or inserted'],
    ],
    [
      'repeated',
      long.toSpliced(5, 0, at(2)),
      ['the entry is out of order: moved, repeated or inserted'],
    ],
    [
      'inserted without a MAC',
      [...long.slice(0, 5), { entry: entryOf(99) }, ...long.slice(5)],
      [noMac],
    ],
    [
      'inserted with a forged MAC',
      [
        ...long.slice(0, 5),
        { entry: entryOf(99), link: { writer: 'w1', seq: 6, mac: 'f'.repeat(64) } },
      ],
      [
        'the entry, or its link to the previous one, was changed',
        'the end of the trail is missing: entries 7 to 10 are missing',
      ],
    ],
    [
      'cut off at the end',
      long.slice(0, 7),
      ['the end of the trail is missing: entries 8 to 10 are missing'],
    ],
    ['cut off at the beginning', long.slice(3), ['before it, entries 1 to 3 are missing']],
    [
      'stripped of the first MACs',
      [...long.slice(0, 3).map(unlinked), ...long.slice(3)],
      [noMac, noMac, noMac, 'before it, entries 1 to 3 are missing'],
    ],
  ])('reports an entry that was %s', (_, entries, what) => {
    expect(findings(long, whole)).toEqual([]);
    expect(findings(entries, whole)).toEqual(what.map((one) => `damage: ${one}`));
  });

  it('reports entries stripped of all MACs, also when the signed head is removed, too', () => {
    const stripped = long.map(unlinked);
    const each = stripped.map(() => `damage: ${noMac}`);
    const end = 'damage: the end of the trail is missing: entries 1 to 10 are missing';
    expect(findings(stripped, whole)).toEqual([...each, end]);
    expect(findings(stripped, {})).toEqual(each);
  });

  it('reports a missing signed head, and a changed one', () => {
    expect(findings(chain, {})).toEqual(['damage: the signed head of the trail is missing']);
    expect(findings([], {})).toEqual([]);
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
      findings([...chain, ...again], { head: key.head((again[1] as SealedEntry).link) }),
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
