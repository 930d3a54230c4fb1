import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { rotateUnderLoss } from './load.ts';

it('after 10,000 rotations with half of the answers lost, each TV has exactly one working key', async () => {
  const store = await openStore(await temporaryFolder());
  const report = await rotateUnderLoss(store, { tvs: 200, rotations: 50, seed: Date.now() });
  console.log(JSON.stringify(report));
  expect(report.wrong).toEqual([]);
  expect(report.rotations).toBe(10_000);
  await store.close();
});
