import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { killInParallel, killLoop } from './kill-loop.ts';

/** What is compared grows with each kill: so there are some folders. */
const [folders, killsEach, atATime] = [25, 40, 4];

it('has everything that was acknowledged after each of 1,000 kills under load', async () => {
  const began = performance.now();
  const run = async () => killLoop(await temporaryFolder(), { kills: killsEach, atMostAnswers: 150 });
  const { missing, ...report } = await killInParallel(
    Array.from({ length: folders }, () => run),
    atATime,
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`kills: ${JSON.stringify({ ...report, missing: missing.length, seconds })}`);
  expect(missing).toEqual([]);
  expect(report.kills).toBe(1000);
});
