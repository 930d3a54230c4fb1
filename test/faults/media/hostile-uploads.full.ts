import { expect, it } from 'vitest';
import { runHostileUploads } from './hostile-uploads.ts';

const seed = Number(process.env.UPLOAD_SEED ?? 1);

it('1,000 hostile uploads: each gets its status, and nothing is served as another type', async () => {
  const { wrong, outcomes } = await runHostileUploads(seed, 1000);
  console.log(JSON.stringify({ seed, outcomes }));
  expect(wrong, `UPLOAD_SEED=${seed}`).toEqual([]);
});
