import { describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { expectKept, runKills } from './run-kills.ts';

const rounds = Number(process.env.ROUNDS ?? 200);

describe.skipIf(!chromiumPath)(`a browser that is killed${needsChromium}`, () => {
  it(`${rounds} times stays paired, plays at once, and loses at most the play on the glass`, async () => {
    const result = await runKills(rounds);
    const { shown, stored, startsMs } = result;
    const slowest = (Math.max(...startsMs) / 1000).toFixed(1);
    console.log(
      `${rounds} kills: ${shown} plays began, ${stored} are stored; slowest start ${slowest} s; ${JSON.stringify({ ...result, startsMs: undefined })}`,
    );
    expect(result.dark).toBe(0);
    expectKept(result, rounds + 2);
  });
});
