// What the web player shows and reports, in a real Chromium.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.ts';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { type MediaServer, png, startMediaServer } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { adminToken, manager } from '../../support/service/management.ts';
import { upload } from '../../support/service/media.ts';
import { startTvOnScreen, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

const red = '255,0,0';
const lime = '0,255,0';
const video = (name: string) =>
  readFileSync(new URL(`../../fixtures/media/${name}.webm`, import.meta.url));

describe.skipIf(!chromiumPath)(`the web player${needsChromium}`, () => {
  let media: MediaServer;
  const of = (name: string, creativeType: string, duration: number, more: object = {}) =>
    item({
      creativeUrl: `${media.url}/${name}`,
      creativeType,
      duration,
      campaignId: crypto.randomUUID(),
      ...more,
    });
  const shows = (tv: TvOnScreen, colour: RegExp | string) =>
    expect.poll(() => tv.colour()).toMatch(colour);

  beforeAll(async () => {
    const image = { type: 'image/png' };
    media = await startMediaServer({
      'red.png': { ...image, bytes: png([255, 0, 0]) },
      'lime.png': { ...image, bytes: png([0, 255, 0]) },
      'private.png': { ...image, bytes: png([0, 255, 0]), withoutCors: true },
      'blue.webm': { type: 'video/webm', bytes: video('blue') },
      'green.webm': { type: 'video/webm', bytes: video('green') },
      'login.png': { type: 'text/html', bytes: Buffer.from('<h1>Log in</h1>') },
      'noise.png': { ...image, bytes: Buffer.alloc(2000, 7) },
      'noise.webm': { type: 'video/webm', bytes: Buffer.alloc(2000, 7) },
      'gone.png': { ...image, bytes: png([1, 1, 1]), status: 410 },
      'page.html': {
        type: 'text/html',
        bytes: Buffer.from('<body style="margin:0;background:#ff00ff"></body>'),
      },
    });
  });

  it('shows images, videos and pages, and reports each with the seconds shown', async () => {
    const items = [
      of('red.png', 'image', 1),
      of('blue.webm', 'video', 1),
      of('green.webm', 'video', 1),
      of('page.html', 'html', 1),
    ];
    const tv = await startTvOnScreen({ items });
    await shows(tv, red);
    await shows(tv, /^0,5\d,20\d$/);
    expect(await tv.page.evaluate("document.querySelector('video.visible')?.muted")).not.toBe(
      false,
    );
    await shows(tv, /^\d,1[67]\d,[45]\d$/);
    await shows(tv, '255,0,255');
    await shows(tv, red);
    await tv.reload();
    await expect.poll(async () => (await tv.events('impression')).length).toBeGreaterThanOrEqual(4);
    const [first, ...others] = await tv.events('impression');
    for (const [index, impression] of [first, ...others].slice(0, 4).entries()) {
      expect(impression).toMatchObject({
        creativeId: items[index]!.creativeId,
        campaignId: items[index]!.campaignId,
      });
      expect(impression!.duration).toBeGreaterThan(0.9);
      expect(impression!.duration).toBeLessThanOrEqual(1);
    }
    expect(tv.browser.problems).toEqual([]);
    const hosts = [new URL(tv.service.url).host, new URL(media.url).host];
    expect([...tv.browser.hosts].sort()).toEqual(hosts.sort());
    expect(await tv.page.evaluate("document.querySelectorAll('video').length")).toBe(2);
    await tv.browser.close();
  });

  it('plays a video without the sound that the browser forbids, and says so until sound is not wanted', async () => {
    const tv = await startTvOnScreen({
      items: [of('green.webm', 'video', 2), of('blue.webm', 'video', 2)],
      config: { player: { sound: true } },
      args: ['--autoplay-policy=document-user-activation-required'],
    });
    const status = async () => (await tv.service.manage('GET', '/v1/status')).body.items[0];
    await shows(tv, /^\d,1[67]\d,[45]\d$/);
    await tv.reload();
    await expect.poll(async () => (await status()).muted?.since, { timeout: 20_000 }).toMatch(/Z$/);
    expect((await tv.events('muted')).length).toBeGreaterThan(0);
    expect(await tv.events('playback_error')).toEqual([]);
    const { code, stdout } = await runCli(['doctor', (await status()).screen.id, '-o', 'json'], {
      env: { SIGNAGE_URL: tv.service.url, SIGNAGE_TOKEN: adminToken },
    });
    expect(code).toBe(0);
    expect(stdout).toContain('--autoplay-policy=no-user-gesture-required');
    const fetched = tv.page.waitForResponse((one) => one.url().endsWith('/config') && one.ok());
    await tv.service.manage('PUT', `/v1/screens/${tv.screenId}/config`, {
      player: { sound: false },
    });
    await fetched;
    await tv.reload();
    await expect.poll(async () => (await status()).muted).toBe(null);
    await tv.browser.close();
  });

  it('plays a video with sound where the browser allows it, and reports nothing', async () => {
    const tv = await startTvOnScreen({
      items: [of('green.webm', 'video', 1), of('blue.webm', 'video', 1)],
      config: { player: { sound: true } },
    });
    await shows(tv, /^\d,1[67]\d,[45]\d$/);
    expect(await tv.page.evaluate("document.querySelector('video.visible').muted")).toBe(false);
    await shows(tv, /^0,5\d,20\d$/);
    await tv.reload();
    await expect.poll(async () => (await tv.events('impression')).length).toBeGreaterThan(0);
    expect(await tv.events('muted')).toEqual([]);
    await tv.browser.close();
  });

  it('skips media that cannot be shown, and reports each but a missing page of another origin', async () => {
    const bad = [
      of('login.png', 'image', 1),
      of('noise.png', 'image', 1),
      of('noise.webm', 'video', 1),
      of('gone.png', 'image', 1),
      of('missing.html', 'html', 1),
    ];
    const tv = await startTvOnScreen({ items: [...bad, of('red.png', 'image', 1)] });
    await shows(tv, red);
    await tv.reload();
    await expect.poll(async () => (await tv.events('playback_error')).length).toBeGreaterThan(3);
    const reasons = new Map(
      (await tv.events('playback_error')).map(({ creativeId, reason }) => [creativeId, reason]),
    );
    expect(bad.map(({ creativeId }) => reasons.get(creativeId))).toEqual([
      'not_media',
      'codec',
      'codec',
      'http_410',
      undefined,
    ]);
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });

  it('shows media of a host that does not allow other origins, without storing them', async () => {
    const tv = await startTvOnScreen({ items: [of('private.png', 'image', 1)] });
    await shows(tv, lime);
    await tv.reload();
    await expect
      .poll(async () => (await tv.events('log')).map(({ cached }) => cached))
      .toContain(false);
    await tv.browser.close();
  });

  it('shows a page in place of the current item at once, and keeps it away from the device key', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png', 'image', 60)] });
    const page = Buffer.from('<!doctype html><title>Menu</title>');
    const creativeUrl = tv.service.url + (await upload(manager(tv.service), page)).body.url;
    await shows(tv, red);
    await tv.publish([item({ creativeUrl, creativeType: 'html', duration: 60 })]);
    await expect.poll(() => tv.page.locator('iframe.visible').count()).toBe(1);
    const frameOf = () => tv.page.frames().find((one) => one.url() === creativeUrl);
    await expect.poll(frameOf).toBeDefined();
    const sandbox = "document.querySelector('iframe').getAttribute('sandbox')";
    expect(await tv.page.evaluate(sandbox)).toBe('allow-scripts');
    const outcome = frameOf()?.evaluate("try { localStorage.length; 'read' } catch { 'refused' }");
    expect(await outcome).toBe('refused');
    await tv.browser.close();
  });

  it('clears the screen at once when the playlist is withdrawn', async () => {
    const tv = await startTvOnScreen({ items: [of('red.png', 'image', 60)] });
    await shows(tv, red);
    await tv.service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await shows(tv, '0,0,0');
    await tv.browser.close();
  });

  it('applies the settings of the config', async () => {
    const player = {
      fit: 'fill',
      background: '#00ff00',
      sound: true,
      pixelShift: true,
      idle: 'black',
    };
    const tv = await startTvOnScreen({ items: [], config: { player } });
    await shows(tv, lime);
    await tv.page.clock.install();
    await tv.reload();
    await tv.publish([of('red.png', 'image', 600)]);
    await shows(tv, red);
    const fit = "getComputedStyle(document.querySelector('img.visible')).objectFit";
    expect(await tv.page.evaluate(fit)).toBe('fill');
    const path = `/v1/screens/${tv.screenId}/config`;
    await tv.service.manage('PUT', path, { player: { ...player, fit: 'cover' } });
    await expect.poll(() => tv.page.evaluate(fit)).toBe('cover');
    const shift = "document.getElementById('stage').style.transform";
    expect(await tv.page.evaluate(shift)).toBe('');
    await tv.page.clock.fastForward(10 * 60_000);
    expect(await tv.page.evaluate(shift)).toMatch(/^translate\(-?2px, -?2px\)$/);
    await tv.publish([of('blue.webm', 'video', 60)]);
    const muted = "document.querySelector('video.visible')?.muted";
    await expect.poll(() => tv.page.evaluate(muted)).toBe(false);
    await tv.browser.close();
  });

  it('says where it hangs and what it waits for, until something has played', async () => {
    const tv = await startTvOnScreen({ items: [] });
    const idle = () => tv.page.evaluate("document.getElementById('idle').innerText");
    const isHidden = () => tv.page.evaluate("document.getElementById('idle').hidden");
    const { body: screen } = await tv.service.manage('GET', `/v1/screens/${tv.screenId}`);
    const { body: venue } = await tv.service.manage('GET', `/v1/venues/${screen.venueId}`);
    await expect.poll(idle).toMatch(/Waiting for its first playlist$/);
    expect(await idle()).toContain(`${venue.name}\n\n${screen.name}\n`);
    await tv.publish([of('gone.png', 'image', 1)]);
    await expect.poll(idle).toContain(`${new URL(media.url).host} answers 410`);
    await tv.publish([of('red.png', 'image', 600)]);
    await shows(tv, red);
    await expect.poll(isHidden).toBe(true);
    await tv.service.manage('DELETE', `/v1/screens/${tv.screenId}/playlist`);
    await shows(tv, '0,0,0');
    await tv.reload();
    await shows(tv, '0,0,0');
    await expect.poll(isHidden).toBe(true);
    const idlePicture = { player: { idle: `${media.url}/lime.png` } };
    await tv.service.manage('PUT', `/v1/screens/${tv.screenId}/config`, idlePicture);
    await shows(tv, lime);
    await tv.browser.close();
  });
});
