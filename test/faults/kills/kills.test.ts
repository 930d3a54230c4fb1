import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { killLoop } from './scenario.ts';

describe('signage serve, killed at any moment under load', () => {
  // The full form is `npm run faults`.
  it('has everything that was acknowledged when it starts again', {
    timeout: 120_000,
  }, async () => {
    const report = await killLoop(await temporaryFolder(), { kills: 8 });
    expect(report.missing).toEqual([]);
    expect(report.screens).toBeGreaterThan(20);
    expect(report.events).toBeGreaterThan(100);
  });
});
