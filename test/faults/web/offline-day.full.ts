// A day without network, with the clock of the page moved, and then the network again.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../../src/domain/clock.ts';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { storedRecords } from '../../support/tv/tv-on-screen.ts';
import { startProxiedTv, storedEvents } from './proxied-tv.ts';

const hours = Number(process.env.HOURS ?? 24);
const playSeconds = 60;

describe.skipIf(!chromiumPath)(`a web player without network${needsChromium}`, () => {
  it(`for ${hours} hours reports each play once, in order`, async () => {
    const { tv, media, proxy } = await startProxiedTv(playSeconds);
    await expect.poll(() => tv.page.locator('img.visible').count()).toBeGreaterThan(0);
    await tv.page.clock.install();
    await tv.reload();
    await expect.poll(() => tv.page.locator('img.visible').count()).toBeGreaterThan(0);
    proxy.goAway();
    media.isDown = true;
    // Pictures are decoded in real time, so each step of the clock is followed by a pause.
    for (let step = 0; step < hours * 60 * 6; step++) {
      await tv.page.clock.runFor(minuteMs / 6);
      await sleep(15);
    }
    const playedHours = (await tv.page.evaluate('Date.now()')) as number;
    expect(playedHours - Date.now()).toBeGreaterThan((hours - 1) * hourMs);
    proxy.comeBack();
    media.isDown = false;
    const expectedPlays = (hours * 3600) / playSeconds;
    // The player sends 100 events at a time, in real time.
    const queued = async () => (await storedRecords(tv, 'events', 'getAllKeys')).length;
    for (let step = 0; step < 3000 && (await queued()) > 3; step++) {
      await tv.page.clock.runFor(minuteMs / 6);
      await sleep(30);
    }
    const { events, lastSeq, missingEvents, conflictingEvents } = await storedEvents(tv);
    const plays = events.filter(({ type }) => type === 'impression');
    console.log(
      `${hours} h offline: ${events.length} events, ${plays.length} plays stored; last number ${lastSeq}, ${missingEvents} missing, ${conflictingEvents} conflicting`,
    );
    expect({ missingEvents, conflictingEvents }).toEqual({
      missingEvents: 0,
      conflictingEvents: 0,
    });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const times = plays.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(plays.length).toBeGreaterThan(0.95 * expectedPlays);
    await tv.browser.close();
  });
});
