// 30 kinds of media that cannot be shown. The good items beside them play on.
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { png } from '../../support/network/media-server.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen } from '../../support/tv/tv-on-screen.ts';

const image = png([255, 0, 0]);
const noise = Buffer.alloc(4000, 7);
const allowed = { 'access-control-allow-origin': '*' };

const answer =
  (status: number, type: string, body: Uint8Array | string, more = {}): RequestListener =>
  (_, outgoing) =>
    void outgoing.writeHead(status, { ...allowed, 'content-type': type, ...more }).end(body);

/** A RIFF file with one second of silence. */
function wav(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(8036, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(8000, 40);
  return Buffer.concat([header, Buffer.alloc(8000, 128)]);
}

interface Kind {
  type: 'image' | 'video';
  reasons: readonly string[];
  serve?: RequestListener;
  url?: string;
  more?: object;
}

const lost = ['unreachable', 'stalled'];
const bad = (
  type: Kind['type'],
  reasons: string | readonly string[],
  serve: RequestListener,
): Kind => ({ type, reasons: [reasons].flat(), serve });
const status = (code: number) => answer(code, 'text/plain', 'no');
const ok = (type: string, body: Uint8Array | string, more = {}) => answer(200, type, body, more);
const page = ok('text/html', '<h1>Log in</h1>');
const redirect =
  (location?: string): RequestListener =>
  ({ url }, outgoing) =>
    void outgoing.writeHead(302, { ...allowed, location: location ?? url }).end();
const video = { ...allowed, 'content-type': 'video/mp4' };

const kinds: Record<string, Kind> = {
  'status 403': bad('image', 'http_403', status(403)),
  'status 404': bad('image', 'http_404', status(404)),
  'status 410': bad('video', 'http_410', status(410)),
  'status 500': bad('image', 'http_500', status(500)),
  'status 503': bad('video', 'http_503', status(503)),
  'a page as image': bad('image', 'not_media', page),
  'a page as video': bad('video', 'not_media', page),
  'JSON as image': bad('image', 'not_media', ok('application/json', '{}')),
  'text as video': bad('video', ['not_media', 'codec'], ok('text/plain', 'video')),
  'an empty image': bad('image', ['codec', 'not_media'], ok('image/png', '')),
  'an empty video': bad('video', ['codec', 'not_media'], ok('video/mp4', '')),
  'the head of an image': bad('image', 'codec', ok('image/png', image.subarray(0, 30))),
  'noise as PNG': bad('image', 'codec', ok('image/png', noise)),
  'noise as JPEG': bad('image', 'codec', ok('image/jpeg', noise)),
  'noise as WebM': bad('video', 'codec', ok('video/webm', noise)),
  'noise as MP4': bad('video', 'codec', ok('video/mp4', noise)),
  'an image as video': bad('video', ['codec', 'not_media'], ok('image/png', image)),
  'sound without pictures': bad('video', ['codec', 'not_media', 'stalled'], ok('audio/wav', wav())),
  'the head of a GIF': bad('image', 'codec', ok('image/gif', 'GIF89a')),
  'another size than stated': {
    ...bad('image', ['not_media', 'codec', ...lost], ok('image/png', image)),
    more: { size: 7 },
  },
  'another hash than stated': {
    ...bad('image', ['not_media', 'codec', ...lost], ok('image/png', image)),
    more: { sha256: '0'.repeat(64) },
  },
  'a silent connection': bad('image', lost, () => {}),
  'a cut connection': bad('image', lost, (_, outgoing) => void outgoing.socket?.destroy()),
  'a body that is cut each time': bad('video', [...lost, 'codec'], (_, outgoing) => {
    outgoing.writeHead(200, { ...video, 'content-length': 1_000_000 });
    outgoing.write(noise, () => outgoing.destroy());
  }),
  'a body that never ends': bad('video', [...lost, 'too_large', 'codec'], (_, outgoing) => {
    outgoing.writeHead(200, video);
    const timer = setInterval(() => outgoing.write(noise), 50);
    outgoing.on('close', () => clearInterval(timer));
  }),
  'a redirect to itself': bad('image', lost, redirect()),
  'a redirect to a page': bad('image', 'not_media', redirect('/a%20page%20as%20image')),
  'broken gzip': bad(
    'image',
    [...lost, 'codec'],
    ok('image/png', noise, { 'content-encoding': 'gzip' }),
  ),
  'a port where nothing listens': { type: 'image', reasons: lost, url: 'http://127.0.0.1:9/x.png' },
  'a host that does not exist': {
    type: 'video',
    reasons: lost,
    url: 'http://nowhere.invalid/x.mp4',
  },
};

describe.skipIf(!chromiumPath)(`the web player${needsChromium}`, () => {
  it(`skips ${Object.keys(kinds).length} kinds of bad media, and reports each once`, async () => {
    const server = createServer((incoming, outgoing) => {
      const name = decodeURIComponent((incoming.url ?? '').slice(1));
      if (name === 'good.png') return answer(200, 'image/png', image)(incoming, outgoing);
      return kinds[name]?.serve?.(incoming, outgoing);
    });
    const { url: base } = await startLocally(server);
    const campaignId = crypto.randomUUID();
    const badItems = Object.entries(kinds).map(([name, { type, url, more = {} }]) =>
      item({
        creativeUrl: url ?? `${base}/${encodeURIComponent(name)}`,
        creativeType: type,
        duration: 1,
        ...more,
      }),
    );
    const good = () =>
      item({ creativeUrl: `${base}/good.png`, creativeType: 'image', duration: 1, campaignId });
    const last = good();
    const tv = await startTvOnScreen({
      keepsProfile: true,
      items: [...badItems.flatMap((one) => [one, good()]), last],
      config: { heartbeatIntervalMinutes: 0.1 },
    });
    const errors = async () => tv.events('playback_error');
    const rounds = async () =>
      (await tv.events('impression')).filter(({ creativeId }) => creativeId === last.creativeId);
    // The last good item is played once all bad ones were tried.
    await expect
      .poll(async () => (await rounds()).length, { timeout: 600_000, interval: 2000 })
      .toBeGreaterThan(0);

    const found = await errors();
    const wrong: string[] = [];
    for (const [index, [name, { reasons }]] of Object.entries(kinds).entries()) {
      const told = found.filter(({ creativeId }) => creativeId === badItems[index]?.creativeId);
      const [{ reason } = { reason: undefined }] = told;
      if (told.length !== 1 || !reasons.includes(String(reason)))
        wrong.push(`${name}: ${told.map((one) => one.reason).join() || 'nothing reported'}`);
    }
    const times = found.map(({ timestamp }) => Number(timestamp));
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    const plays = (await tv.events('impression')).length;
    console.log(
      `${badItems.length} kinds of bad media: ${wrong.length} wrong, ${plays} plays of good media meanwhile, at most ${Math.max(...gaps)} s from one to the next`,
    );
    expect(wrong).toEqual([]);
    expect(plays).toBeGreaterThanOrEqual(badItems.length - 2);
    // An item may take 10 s to fail, and the good one plays for a second.
    expect(Math.max(...gaps)).toBeLessThanOrEqual(12);
    expect(tv.browser.problems).toEqual([]);
    await tv.browser.close();
  });
});
