// Proves that each seeded defect fails exactly the expected checks. Runs only the related checks
// here; `npm run faults` runs all of them.
import { describe, expect, it } from 'vitest';
import { defectNames } from '../support/seeded-defects.ts';
import { expectedFailures } from './expected-failures.ts';
import { failedIds, runWithDefect } from './run-with-defect.ts';

describe('a service that', () => {
  it.each(defectNames)(
    '%s: fails exactly the expected checks',
    { timeout: 60_000 },
    async (defect) => {
      const kinds = new Set(expectedFailures[defect].map((id) => `${id.split('.')[0]}.`));
      const { outcomes, left } = await runWithDefect(defect, [...kinds]);
      expect(failedIds(outcomes)).toEqual(expectedFailures[defect]);
      expect(outcomes.some(({ result }) => result === 'pass')).toBe(true);
      expect(left).toEqual([]);
      expect(JSON.stringify(outcomes)).not.toMatch(/[dm]ak_[0-9A-Za-z]{10}/);
    },
  );
});
