// Proves that each seeded defect fails exactly the expected checks. Runs only the related checks
// here; `npm run faults` runs all of them.
import { describe, expect, it } from 'vitest';
import { bugNames } from '../support/planted-bugs.ts';
import { redRows } from './red-rows.ts';
import { red, runPlanted } from './run-planted.ts';

describe('a service that', () => {
  it.each(bugNames)('%s: fails exactly the expected checks', { timeout: 60_000 }, async (bug) => {
    const kinds = new Set(redRows[bug].map((id) => `${id.split('.')[0]}.`));
    const { outcomes, left } = await runPlanted(bug, [...kinds]);
    expect(red(outcomes)).toEqual(redRows[bug]);
    expect(outcomes.some(({ result }) => result === 'pass')).toBe(true);
    expect(left).toEqual([]);
    expect(JSON.stringify(outcomes)).not.toMatch(/[dm]ak_[0-9A-Za-z]{10}/);
  });
});
