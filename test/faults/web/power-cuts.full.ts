// Power cuts of the disk that holds the profile of the web player's browser.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { LoopDisk, whyNoLoopDisk } from '../crashes/loop-disk.ts';
import { killBrowser, pauseBrowser } from './killed-browser.ts';
import { expectKept, runKills } from './run-kills.ts';

/** Linux writes data that is not synced after 30 s. Browsers do not sync their Service Workers. */
const settleMs = 45_000;
const cuts = Number(process.env.ROUNDS ?? 20);
const why = await whyNoLoopDisk(await temporaryFolder());
if (why !== undefined) console.log(`power cuts of a browser: skipped, ${why}`);

describe.skipIf(!chromiumPath || why !== undefined)(`a browser${needsChromium}`, () => {
  it(`stays paired and plays at once after ${cuts} power cuts`, async () => {
    // As ext4 is mounted by default.
    const disk = new LoopDisk(await temporaryFolder(), { megabytes: 400, commitSeconds: 5 });
    await disk.make();
    const profile = join(disk.data, 'profile');
    try {
      await mkdir(profile, { recursive: true });
      const result = await runKills(cuts, {
        profile,
        settleMs,
        async crash(browser) {
          pauseBrowser(browser);
          const copy = await disk.copyAtAnInstant();
          await killBrowser(browser);
          await disk.restore(copy);
        },
      });
      const { shown, stored, startsMs } = result;
      const slowest = (Math.max(...startsMs) / 1000).toFixed(1);
      console.log(
        `${cuts} power cuts: ${shown} plays began, ${stored} are stored; slowest start ${slowest} s; ${JSON.stringify({ ...result, startsMs: undefined })}`,
      );
      expectKept(result, cuts + 2);
      // Chromium deletes a database that a power cut has damaged. The binding has a copy.
      expect(result.dark).toBeLessThanOrEqual(Math.ceil(cuts / 10));
    } finally {
      await killBrowser({ profile });
      await disk.remove();
    }
  });
});
