// That each seeded defect turns exactly its rows red, among all rows there are.
import { expect, it } from 'vitest';
import { redRows } from '../../conformance/red-rows.ts';
import { red, runPlanted } from '../../conformance/run-planted.ts';
import { bugNames } from '../../support/planted-bugs.ts';

it.each(bugNames)('a service that %s', async (defect) => {
  const { outcomes, left } = await runPlanted(defect);
  expect(red(outcomes)).toEqual(redRows[defect]);
  expect(left).toEqual([]);
});
