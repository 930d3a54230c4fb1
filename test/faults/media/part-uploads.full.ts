import { expect, it } from 'vitest';
import { runPartUploads } from './part-uploads.ts';

const seed = Number(process.env.PARTS_SEED ?? 1);

it('four clients upload 200 files each in parts, while the service is killed and the disk is full', async () => {
  const report = await runPartUploads({ filesEach: 200, abandoned: 8, seed });
  const { wrong, missing, places, kills, fullDisks } = report;
  console.log(JSON.stringify({ seed, kills, fullDisks, wrong: wrong.length }));
  expect(wrong, `PARTS_SEED=${seed}`).toEqual([]);
  expect(missing).toEqual([]);
  expect(places).toEqual([]);
});
