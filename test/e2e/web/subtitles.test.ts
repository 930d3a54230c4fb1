// Subtitles of videos in the web player, in a real Chromium.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { type MediaServer, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, storedRecords, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

const vtt = (text: string) => Buffer.from(`WEBVTT\n\n00:00.000 --> 00:59.000\n${text}\n`);
const video = readFileSync(new URL('../../fixtures/media/blue.webm', import.meta.url));
const webm = { type: 'video/webm', bytes: video };
const type = 'text/vtt';

describe.skipIf(!chromiumPath)(`subtitles in the web player${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string, subtitles: string, more: object = {}) =>
    item({
      creativeUrl: `${media.url}/${name}`,
      creativeType: 'video',
      duration: 2,
      subtitles: `${media.url}/${subtitles}`,
      ...more,
    });
  /** The text over the visible video, and whether the video asks for the consent of its host. */
  const shown = (tv: Pick<TvOnScreen, 'page'>) =>
    tv.page.evaluate(`(() => {
      const video = document.querySelector('video.visible');
      const tracks = video ? [...video.textTracks].filter(({ mode }) => mode === 'showing') : [];
      const cues = tracks.flatMap(({ activeCues }) => [...(activeCues ?? [])]);
      return [cues.map(({ text }) => text).join(), video?.crossOrigin ?? null];
    })()`);
  const isStored = async (tv: Pick<TvOnScreen, 'page'>, name: string) => {
    const records = await storedRecords(tv, 'media', 'getAll');
    return records.some(({ url, isComplete }) => url === `${media.url}/${name}` && isComplete);
  };

  beforeAll(async () => {
    media = await startMediaServer({
      'blue.webm': webm,
      'private.webm': { ...webm, withoutCors: true },
      'one.vtt': { type, bytes: vtt('Willkommen') },
      'plain.vtt': { type: 'text/plain', bytes: vtt('Guten Tag') },
      'private.vtt': { type, bytes: vtt('Nobody reads this'), withoutCors: true },
      'gone.vtt': { type, bytes: vtt('Nobody reads this'), status: 410 },
      'noise.vtt': { type, bytes: Buffer.from('1\n00:00:00,000 --> 00:00:59,000\nSubRip\n') },
    });
  });

  it('shows the subtitles of each video, also over a video of a host without cross-origin rules', async () => {
    const tv = await startTvOnScreen({
      items: [of('private.webm', 'one.vtt'), of('blue.webm', 'plain.vtt')],
    });
    await expect.poll(() => shown(tv)).toEqual(['Willkommen', null]);
    await expect.poll(() => shown(tv)).toEqual(['Guten Tag', null]);
    await expect.poll(() => shown(tv)).toEqual(['Willkommen', null]);
    await tv.publish([of('blue.webm', 'one.vtt', { subtitles: undefined })]);
    // Between two videos, the page shows no text either, and still has the former track.
    const tracks = () => tv.page.evaluate("document.querySelectorAll('track').length");
    await expect.poll(async () => [await shown(tv), await tracks()]).toEqual([['', null], 0]);
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });

  it('keeps them like other media, for the time without the host', async () => {
    const tv = await startTvOnScreen({ items: [of('blue.webm', 'one.vtt')] });
    await expect.poll(() => isStored(tv, 'blue.webm')).toBe(true);
    await expect.poll(() => isStored(tv, 'one.vtt')).toBe(true);
    media.isDown = true;
    await tv.reload();
    await expect.poll(() => shown(tv)).toEqual(['Willkommen', null]);
    media.isDown = false;
    await tv.browser.close();
  });

  it('plays the video without subtitles that fail, and reports each once', async () => {
    const names = ['private.vtt', 'gone.vtt', 'noise.vtt'];
    const items = names.map((name) =>
      of('blue.webm', name, { duration: 1, campaignId: crypto.randomUUID() }),
    );
    const tv = await startTvOnScreen({ items });
    /** What the page has reported, in the order of the items. Events are sent in batches. */
    const reported = async (type: string) => {
      const queue = await storedRecords(tv, 'events', 'getAll');
      return [...(await tv.events(type)), ...queue].filter((one) => one.type === type);
    };
    const failures = async () => {
      const all = await reported('log');
      return items.map(({ creativeId }) => {
        const own = all.filter((one) => one.creativeId === creativeId);
        return own.map(({ message, subtitles, reason }) => [message, subtitles, reason]);
      });
    };
    const rounds = async () => {
      const plays = (await reported('impression')).map((one) => one.creativeId);
      return Math.min(...items.map((one) => plays.filter((id) => id === one.creativeId).length));
    };
    await expect.poll(() => tv.colour()).toMatch(/^0,5\d,20\d$/);
    await expect.poll(rounds).toBeGreaterThanOrEqual(2);
    const failure = (name: string, reason: string) => [
      ['subtitles not shown', `${media.url}/${name}`, reason],
    ];
    expect(await failures()).toEqual([
      failure('private.vtt', 'unreachable'),
      failure('gone.vtt', 'http_410'),
      failure('noise.vtt', 'not_media'),
    ]);
    expect(await reported('playback_error')).toEqual([]);
    await tv.browser.close();
  });
});
