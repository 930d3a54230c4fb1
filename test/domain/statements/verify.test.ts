import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headHash, readHead } from '../../../src/domain/statements/head.ts';
import { RowTally } from '../../../src/domain/statements/row-tally.ts';
import { openNote, readVerifierKey } from '../../../src/domain/statements/signed-note.ts';
import { verifyChain, verifyRows } from '../../../src/domain/statements/verify.ts';
import { rowOf, type Statement, signer, statements } from '../../support/statements/statements.ts';

const key = readVerifierKey(signer.verifierKey) ?? expect.unreachable();

/** Returns all that is wrong, as `statement verify` finds it. */
async function faultsOf(given: readonly Statement[]): Promise<string[]> {
  const found: string[] = [];
  const heads = [];
  for (const { note, rows } of given) {
    const text = openNote(note, key);
    if (text === undefined) {
      found.push('head');
      continue;
    }
    const head = readHead(text);
    heads.push({ head, hash: headHash(text) });
    const lines = rows.toString('latin1').split('\n');
    if (lines.at(-1) === '') lines.pop();
    const wrong = await verifyRows(lines, head);
    if (wrong !== undefined) found.push(wrong);
  }
  return [...found, ...verifyChain(heads).values()];
}

function withBit(bytes: Buffer, bit: number): Buffer {
  const changed = Buffer.from(bytes);
  const place = bit % (bytes.length * 8);
  changed[place >> 3] = (changed[place >> 3] ?? 0) ^ (1 << (place & 7));
  return changed;
}

function withLines(bytes: Buffer, change: (lines: string[]) => void): Buffer {
  const lines = bytes.toString('latin1').split(/(?<=\n)/);
  change(lines);
  return Buffer.from(lines.join(''), 'latin1');
}

const mutations: Record<string, (all: Statement[], at: number, by: number) => void> = {
  'a bit of a head': (all, at, by) => {
    const one = all[at] as Statement;
    one.note = withBit(one.note, by);
  },
  'a bit of a row': (all, at, by) => {
    const one = all[at] as Statement;
    one.rows = withBit(one.rows, by);
  },
  'a dropped row': (all, at, by) => {
    const one = all[at] as Statement;
    one.rows = withLines(one.rows, (lines) => lines.splice(by % lines.length, 1));
  },
  'an added row': (all, at, by) => {
    const one = all[at] as Statement;
    one.rows = withLines(one.rows, (lines) => {
      lines.splice(by % (lines.length + 1), 0, lines[by % lines.length] ?? '');
    });
  },
  'two swapped rows': (all, at, by) => {
    const one = all[at] as Statement;
    one.rows = withLines(one.rows, (lines) => {
      const [moved = ''] = lines.splice(by % lines.length, 1);
      lines.splice((by + 1) % (lines.length + 1), 0, moved);
    });
  },
  'a head left out of the chain': (all, at) => all.splice(1 + (at % (all.length - 2)), 1),
  'the rows of another day': (all, at) => {
    const [one, other] = [all[at] as Statement, all[(at + 1) % all.length] as Statement];
    one.rows = other.rows;
  },
};

/** 10,000 were run once. */
const runs = 500;

describe('the verifier of statements', () => {
  it('finds nothing wrong in statements as they were sealed', async () => {
    expect(await faultsOf(statements([12, 0, 3, 7]))).toEqual([]);
    expect(await faultsOf(statements([2, 5, 3]).slice(1))).toEqual([]);
  });

  it('counts full and late plays, and adds up the seconds exactly', () => {
    const tally = new RowTally();
    for (let row = 0; row < 10; row++) tally.write(rowOf(row));
    expect(tally.figures()).toMatchObject({
      plays: '10',
      'full-plays': '7',
      seconds: '145.045',
      late: '2',
    });
  });

  it('refuses every changed statement, and names the place', async () => {
    const whole = statements([5, 9, 4, 7]);
    const property = fc.asyncProperty(
      fc.constantFrom(...Object.keys(mutations)),
      fc.nat(3),
      fc.nat(1_000_000),
      async (name, at, by) => {
        const changed = whole.map((one) => ({ ...one }));
        mutations[name]?.(changed, at, by);
        const faults = await faultsOf(changed);
        expect(faults[0]).toMatch(/^head$|row \d|number \d|^its rows have/);
      },
    );
    await fc.assert(property, { numRuns: runs });
  });

  it.each([
    ['dropped', (lines: string[]) => lines.splice(3, 1), 'row 4 is not the one that was sealed'],
    [
      'changed',
      (lines: string[]) => lines.splice(1, 1, '{}\n'),
      'row 2 is not the one that was sealed',
    ],
    ['dropped at the end', (lines: string[]) => lines.pop(), 'row 5 is missing'],
    [
      'added at the end',
      (lines: string[]) => lines.push(lines[4] ?? ''),
      'row 6 is not the one that was sealed',
    ],
  ])('names the row that was %s', async (_, change, wrong) => {
    const [one] = statements([5]) as [Statement];
    expect(await faultsOf([{ ...one, rows: withLines(one.rows, change) }])).toEqual([wrong]);
  });

  it('refuses rows that a signer has added up wrongly', async () =>
    expect(await faultsOf(statements([5], { seconds: '500' }))).toEqual([
      'its rows have seconds 72.51, its head 500',
    ]));

  it('names the number that is missing in the chain', async () => {
    const all = statements([1, 1, 1, 1]);
    expect(await faultsOf(all.toSpliced(1, 1))).toEqual(['number 2 is missing before number 3']);
  });

  it('shows two heads of one number, and takes the same head twice', async () => {
    const [first, second] = statements([1, 2]);
    const [, other] = statements([1, 3]);
    const all = [first, second, other] as Statement[];
    expect(await faultsOf(all)).toEqual([
      'two different heads have number 2: their signer has signed both',
    ]);
    expect(await faultsOf([...all.slice(0, 2), second as Statement])).toEqual([]);
  });

  it('refuses a head that was sealed after another one', async () => {
    const [, second] = statements([1, 2]);
    const [first] = statements([4]);
    expect(await faultsOf([first, second] as Statement[])).toEqual([
      'number 2 does not follow number 1, but another head',
    ]);
  });
});
