import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { packProgram } from './packed-program.ts';
import { bulkLoad, killInParallel, killLoop } from './scenario.ts';

/** Several folders, because comparisons grow with each kill. */
const [folders, killsEach, atATime] = [25, 40, 3];

it('acknowledged data survives 1,000 kills under load', async () => {
  const began = performance.now();
  const run = await packProgram();
  const life = async () =>
    killLoop(await temporaryFolder(), { kills: killsEach, atMostAnswers: 80, run });
  const { missing, ...report } = await killInParallel(
    Array.from({ length: folders }, () => life),
    atATime,
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`kills: ${JSON.stringify({ ...report, missing: missing.length, seconds })}`);
  expect(missing).toEqual([]);
  expect(report.kills).toBe(1000);
});

it.each(['json', 'postgres'])(
  'each audit entry and notice of publications on 200 screens is there once after 300 kills (%s)',
  async (store) => {
    const run = await packProgram();
    const life = async () =>
      killLoop(await temporaryFolder(), {
        ...bulkLoad,
        ...(store === 'postgres' && { store: await freshDatabase() }),
        kills: 30,
        run,
      });
    const { missing, ...report } = await killInParallel(
      Array.from({ length: 10 }, () => life),
      1,
    );
    console.log(`kills during large publications, ${store}: ${JSON.stringify(report)}`);
    expect(missing).toEqual([]);
  },
);

it('publications on many screens are whole after 100 kills', async () => {
  const loads = [{ installers: 0, editors: 0, posters: 0, publishers: 6 }];
  const options = { kills: 100, atMostAnswers: 30, loads, run: await packProgram() };
  const { missing, ...report } = await killLoop(await temporaryFolder(), options);
  console.log(`kills during publications: ${JSON.stringify(report)}`);
  expect(missing).toEqual([]);
});
