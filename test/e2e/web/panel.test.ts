// What the web player finds out about its panel, in a real Chromium.
import { describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { startTvOnScreen, storedRecords } from '../../support/tv/tv-on-screen.ts';

describe.skipIf(!chromiumPath)(`the web player${needsChromium}`, () => {
  it('reports at each start what its browser says of the panel', async () => {
    const tv = await startTvOnScreen({ items: [] });
    const reports = () => tv.events('player_report');
    const made = async () =>
      [...(await storedRecords(tv, 'events', 'getAll')), ...(await reports())].map(
        ({ type }) => type,
      );
    await expect.poll(made).toContain('player_report');
    // The next start sends what the last one has left.
    await tv.reload();
    await expect.poll(async () => (await reports()).length).toBeGreaterThan(0);
    const [report] = await reports();
    expect(report).toMatchObject({
      engine: expect.stringMatching(/^Chromium \d+$/),
      width: 1280,
      height: 720,
      pixelRatio: 1,
      plays: expect.arrayContaining(['vp9']),
      isolatesPages: true,
      turnsPictures: true,
    });
    const { body } = await tv.service.manage('GET', '/v1/status');
    const { type, timestamp, seq, ...found } = report!;
    expect(body.items[0].device.report).toMatchObject(found);
    await tv.browser.close();
  });
});
