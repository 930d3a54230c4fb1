// The quick form of kills.full.ts.
import { describe, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/chromium.ts';
import { expectKept, runKills } from './run-kills.ts';

describe.skipIf(!chromiumPath)(`a browser that is killed${needsChromium}`, () => {
  it('stays paired, plays at once, and loses at most the play on the glass', async () => {
    const rounds = 3;
    expectKept(await runKills(rounds), rounds + 2);
  });
});
