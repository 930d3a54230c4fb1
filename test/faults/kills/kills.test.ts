import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { bulkLoad, killLoop } from './scenario.ts';

describe('signage serve, killed at a random moment under load', () => {
  // `npm run faults` runs the full suite.
  it('has all acknowledged data after the next start', {
    timeout: 120_000,
  }, async () => {
    const report = await killLoop(await temporaryFolder(), { kills: 5, atMostAnswers: 80 });
    expect(report.missing).toEqual([]);
    expect(report.screens).toBeGreaterThan(10);
    expect(report.events).toBeGreaterThan(50);
  });

  it('has each audit entry and notice of publications on 200 screens once', {
    timeout: 300_000,
  }, async () => {
    const { missing } = await killLoop(await temporaryFolder(), { kills: 3, ...bulkLoad });
    expect(missing).toEqual([]);
  });
});
