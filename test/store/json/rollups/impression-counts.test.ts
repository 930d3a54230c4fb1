import fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchSums, type ImpressionCount } from '../../../../src/domain/events/batch-counts.ts';
import type { ReportGroup } from '../../../../src/domain/records/report.ts';
import { countBatch, counterGroupOf, groupOrder } from '../../../../src/store/impression-counts.ts';
import { ImpressionCounter } from '../../../../src/store/json/rollups/impression-counts.ts';

interface Counted {
  scopes: string[];
  day: string;
  group: ReportGroup;
  key: string;
  cell: ImpressionCount;
}

const oneOf = (kind: string, count: number) => fc.nat(count - 1).map((n) => `${kind}${n}`);
const counted: fc.Arbitrary<Counted> = fc.record({
  scopes: fc.uniqueArray(oneOf('scope', 3), { minLength: 1 }),
  day: oneOf('day', 2),
  group: fc.constantFrom(...groupOrder),
  key: oneOf('key', 60),
  cell: fc.record({
    impressions: fc.nat(1000),
    seconds: fc.constantFrom(0, 1, 7, Number.MAX_VALUE),
  }),
});

/** The same counts in plain maps, by line prefix. */
function summed(all: readonly Counted[]): Map<string, ImpressionCount> {
  const sums = new Map<string, ImpressionCount>();
  for (const { scopes, day, group, key, cell } of all) {
    for (const scope of scopes) {
      const name = `${counterGroupOf(group, scope)}${day},${key}`;
      const { impressions, seconds } = sums.get(name) ?? { impressions: 0, seconds: 0 };
      sums.set(name, {
        impressions: impressions + cell.impressions,
        seconds: Math.min(seconds + cell.seconds, Number.MAX_VALUE),
      });
    }
  }
  return sums;
}

function tallyOf(all: readonly Counted[]): ImpressionCounter {
  const counter = new ImpressionCounter();
  for (const { scopes, day, group, key, cell } of all)
    for (const scope of scopes) counter.addCell(scope, day, group, key, cell);
  return counter;
}

function told(counter: ImpressionCounter): Map<string, ImpressionCount> {
  const cells = new Map<string, ImpressionCount>();
  for (const [section, days] of counter.sections) {
    for (const [day, counts] of days) {
      for (const [key, cell] of counts) {
        expect(cells.has(`${section}${day},${key}`)).toBe(false);
        cells.set(`${section}${day},${key}`, cell);
      }
    }
  }
  return cells;
}

it('adds up by section, day and key like plain maps', () => {
  fc.assert(
    fc.property(
      fc.array(counted, { maxLength: 300 }),
      fc.array(counted, { maxLength: 100 }),
      (first, second) => {
        const counter = tallyOf(first);
        expect(told(counter)).toEqual(summed(first));
        counter.addAll(tallyOf(second));
        expect(told(counter)).toEqual(summed([...first, ...second]));
      },
    ),
  );
});

it('counts a batch once for its tenant and once for its venue, by ids in lower case', () => {
  const counter = new ImpressionCounter();
  const event = { type: 'impression', timestamp: 0, duration: 2 };
  const sums = batchSums([
    { ...event, campaignId: 'C', creativeId: 'a' },
    { ...event, campaignId: 'c', creativeId: 'b' },
    { ...event, type: 'log' },
  ]);
  for (const one of countBatch(sums, 0))
    counter.add({ tenantId: 't', venueId: 'V', screenId: 'S' }, one);
  const both = { impressions: 4, seconds: 8 };
  const half = { impressions: 2, seconds: 4 };
  const cells = ['t', 'V'].flatMap((scope): [string, ImpressionCount][] => [
    [`${counterGroupOf('day', scope)}1970-01-01,1970-01-01`, both],
    [`${counterGroupOf('campaign', scope)}1970-01-01,c`, both],
    [`${counterGroupOf('creative', scope)}1970-01-01,a`, half],
    [`${counterGroupOf('creative', scope)}1970-01-01,b`, half],
    [`${counterGroupOf('venue', scope)}1970-01-01,v`, both],
    [`${counterGroupOf('screen', scope)}1970-01-01,s`, both],
  ]);
  expect(told(counter)).toEqual(new Map(cells));
});
