// The exam for TV apps, with the web player in a real Chromium, in real time.
import { describe, expect, it } from 'vitest';
import { runTvExam } from '../../../src/entry/conformance.ts';
import { chromiumPath, needsChromium, type TvBrowser } from '../../support/browser/chromium.ts';
import { killBrowser, openPlayer } from './killed-browser.ts';

describe.skipIf(!chromiumPath)(`the web player in the exam${needsChromium}`, () => {
  it('passes each check', async () => {
    let url = '';
    let browser: TvBrowser | undefined;
    const typed: Promise<void>[] = [];
    const enter = async (code: string) => {
      if (browser) return browser.page.keyboard.type(code);
      browser = await openPlayer(`${url}/player#${code}`);
    };
    const power = {
      async off() {
        await killBrowser(browser!);
        return true;
      },
      async on() {
        browser = await openPlayer(`${url}/player`, { profile: browser!.profile });
      },
    };
    const report = await runTvExam({
      quick: true,
      power,
      onCode(code, address) {
        url = address;
        typed.push(enter(code));
      },
    });
    await Promise.all(typed);
    const failed = report.checks.filter(({ result }) => result === 'fail');
    const skipped = report.checks.filter(({ result }) => result === 'skip');
    console.log(report.summary);
    console.log(`not judged: ${skipped.map(({ id, seen }) => `${id} (${seen})`).join(', ')}`);
    expect(failed).toEqual([]);
  });
});
