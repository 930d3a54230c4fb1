import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ReportGroup } from '../../../src/domain/report.ts';
import { type Cell, groupOrder, sectionOf } from '../../../src/store/impression-tally.ts';
import { Tally } from '../../../src/store/json/tally.ts';

interface Counted {
  scopes: string[];
  day: string;
  group: ReportGroup;
  key: string;
  cell: Cell;
}

const oneOf = (kind: string, count: number) => fc.nat(count - 1).map((n) => `${kind}${n}`);
const counted: fc.Arbitrary<Counted> = fc.record({
  scopes: fc.uniqueArray(oneOf('scope', 3), { minLength: 1 }),
  day: oneOf('day', 2),
  group: fc.constantFrom(...groupOrder),
  key: oneOf('key', 60),
  cell: fc.record({ impressions: fc.nat(1000), seconds: fc.constantFrom(0, 1, 7, Number.MAX_VALUE) }),
});

/** The same in plain maps, by what a line begins with. */
function summed(all: readonly Counted[]): Map<string, Cell> {
  const sums = new Map<string, Cell>();
  for (const { scopes, day, group, key, cell } of all) {
    for (const scope of scopes) {
      const name = `${sectionOf(group, scope)}${day},${key}`;
      const { impressions, seconds } = sums.get(name) ?? { impressions: 0, seconds: 0 };
      sums.set(name, { impressions: impressions + cell.impressions, seconds: Math.min(seconds + cell.seconds, Number.MAX_VALUE) });
    }
  }
  return sums;
}

function tallyOf(all: readonly Counted[]): Tally {
  const tally = new Tally();
  for (const { scopes, day, group, key, cell } of all) tally.add(scopes, { clock: 'timestamp', day, cells: [[group, key, cell]] });
  return tally;
}

function told(tally: Tally): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  for (const [section, days] of tally.sections) {
    for (const [day, owner] of days) {
      for (const [key, cell] of tally.cellsOf(owner)) {
        expect(cells.has(`${section}${day},${key}`)).toBe(false);
        expect(tally.cellOf(owner, key)).toEqual(cell);
        cells.set(`${section}${day},${key}`, cell);
      }
    }
  }
  return cells;
}

it('adds up by section, day and key what plain maps would', () => {
  fc.assert(
    fc.property(fc.array(counted, { maxLength: 300 }), fc.array(counted, { maxLength: 100 }), (first, second) => {
      const tally = tallyOf(first);
      expect(told(tally)).toEqual(summed(first));
      tally.addAll(tallyOf(second));
      expect(told(tally)).toEqual(summed([...first, ...second]));
    }),
  );
});

it('says of what was never counted that nothing was', () => {
  const tally = tallyOf([{ scopes: ['a'], day: 'one', group: 'campaign', key: 'known', cell: { impressions: 1, seconds: 2 } }]);
  const owner = tally.sections.get(sectionOf('campaign', 'a'))?.get('one') as number;
  expect(tally.cellOf(owner, 'known')).toEqual({ impressions: 1, seconds: 2 });
  expect(tally.cellOf(owner, 'other')).toEqual({ impressions: 0, seconds: 0 });
  expect(tally.cellOf(owner + 1, 'known')).toEqual({ impressions: 0, seconds: 0 });
});
