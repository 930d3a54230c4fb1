// That each planted bug turns exactly its rows red, among all rows there are.
import { expect, it } from 'vitest';
import { redRows } from '../../conformance/red-rows.ts';
import { red, runPlanted } from '../../conformance/run-planted.ts';
import { bugNames } from '../../support/planted-bugs.ts';

it.each(bugNames)('a service that %s', async (bug) => {
  const { outcomes, left } = await runPlanted(bug);
  expect(red(outcomes)).toEqual(redRows[bug]);
  expect(left).toEqual([]);
});
