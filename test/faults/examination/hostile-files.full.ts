import { expect, it } from 'vitest';
import { runHostileFiles } from './run-hostile-files.ts';

const seed = Number(process.env.EXAMINATION_SEED ?? 1);
const parts = Array.from({ length: 10 }, (_, part) => seed * 10 + part);

// 20,000 in all.
it.each(parts)('2,000 hostile files of part %i stay within the limits', async (part) => {
  const { wrong, outcomes, most } = await runHostileFiles(part, 2000);
  console.log(JSON.stringify({ part, most, outcomes }));
  expect(wrong, `EXAMINATION_SEED=${seed}`).toEqual([]);
});
