// The quick form of kills.full.ts.
import { describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { expectKept, runKills } from './run-kills.ts';

describe.skipIf(!chromiumPath)(`a browser that is killed${needsChromium}`, () => {
  it('stays paired, plays at once, and loses at most the play on the glass', async () => {
    const rounds = 2;
    const result = await runKills(rounds);
    expect(result.dark).toBe(0);
    expectKept(result, rounds + 2);
  }, 180_000);
});
