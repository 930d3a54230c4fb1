import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { killLoop } from './kill-loop.ts';

it('has everything that was acknowledged after each of 50 kills under load', async () => {
  const report = await killLoop(await temporaryFolder(), 50);
  console.log(JSON.stringify(report));
  expect(report.missing).toEqual([]);
});
