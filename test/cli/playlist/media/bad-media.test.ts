import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mediaChecks } from '../../../../src/cli/playlist/media/finding.ts';
import { type Clock, systemClock } from '../../../../src/domain/clock.ts';
import { freePort } from '../../../support/free-port.ts';
import {
  certificateFile,
  files,
  mediaSite,
  respond,
  type ServeOptions,
  serveFile,
} from './media-site.ts';
import { checkItems } from './run-check.ts';

interface BadMedia {
  /** What is wrong with the site. */
  what: string;
  /** The only finding: `error dns`. */
  named: string;
  /** Part of its text. */
  says: RegExp;
  type?: string;
  /** Answers requests. Default: no server. */
  answer?: RequestListener;
  certificate?: string;
  /** The URL of the item. Default: that of the server. */
  url?: (site: string) => string | Promise<string>;
  argv?: readonly string[];
  clock?: Clock;
  validUntil?: number;
}

const trust = (certificate: string) => ['--ca-file', certificateFile(certificate)];
const video = (defect: ServeOptions) => ({ type: 'video', answer: serveFile(files.mp4, defect) });
const page = (headers: ServeOptions['headers']) => ({
  type: 'html',
  answer: serveFile(files.html, { headers: headers ?? {} }),
});
const redirect = (location: string) => respond(302, { location });

/** A clock that jumps when a server calls `jump`. */
function jumpingClock(): { clock: Clock; jump(ms: number): void } {
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const jump = (ms: number) => {
    aheadMs += ms;
  };
  return { clock, jump };
}
const slow = jumpingClock();

/** A clock whose delays take a tenth of their time. */
const quick: Clock = { ...systemClock, after: (ms, wake) => systemClock.after(ms / 10, wake) };

const nowSeconds = Math.floor(systemClock.now() / 1000);
const basicTime = (ms: number) => `${new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

const sites: BadMedia[] = [
  {
    what: 'a host name that does not exist',
    named: 'error dns',
    says: /cannot be resolved \(ENOTFOUND\)/,
    // The label is too long for a name, so nothing is asked on the network.
    url: () => `http://${'a'.repeat(64)}.invalid/a.png`,
  },
  {
    what: 'a port on which nothing listens',
    named: 'error connect',
    says: /ECONNREFUSED/,
    url: async () => `http://127.0.0.1:${await freePort()}/a.png`,
  },
  {
    what: 'an expired certificate',
    named: 'error tls',
    says: /has expired/,
    answer: serveFile(files.png),
    certificate: 'expired',
    argv: trust('expired'),
  },
  {
    what: 'a certificate for another host',
    named: 'error tls',
    says: /for elsewhere\.test, not for 127\.0\.0\.1/,
    answer: serveFile(files.png),
    certificate: 'elsewhere',
    argv: trust('elsewhere'),
  },
  {
    what: 'a self-signed certificate',
    named: 'error tls',
    says: /self-signed/,
    answer: serveFile(files.png),
    certificate: 'first',
  },
  {
    what: 'https on a port that speaks http',
    named: 'error tls',
    says: /TLS with 127\.0\.0\.1:\d+ failed/,
    answer: serveFile(files.png),
    url: (site) => site.replace('http:', 'https:'),
  },
  {
    what: 'a server that never answers',
    named: 'error timeout',
    says: /did not answer/,
    answer: () => {},
    argv: ['--timeout', '2s'],
    clock: quick,
  },
  {
    what: 'a server that stops in the middle',
    named: 'error timeout',
    says: /stopped after 4 bytes/,
    answer: (_, response) => void response.writeHead(200).write('\x89PNG', 'latin1'),
    argv: ['--timeout', '2s'],
    clock: quick,
  },
  {
    what: 'a server that stops in the middle of a file without a length',
    named: 'error timeout',
    says: /stopped after 4 bytes/,
    answer: (_, response) =>
      void response.socket?.write(
        'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG',
        'latin1',
      ),
    argv: ['--timeout', '2s'],
    clock: quick,
  },
  {
    what: 'a server that switches to another protocol',
    named: 'error connection',
    says: /closed the connection too early/,
    answer: (_, response) =>
      void response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: tv\r\nConnection: Upgrade\r\n\r\n',
      ),
  },
  {
    what: 'a server that hangs up',
    named: 'error connection',
    says: /closed the connection too early/,
    answer: (_, response) => void response.socket?.destroy(),
  },
  {
    what: 'a server that closes before the end of the file',
    named: 'error connection',
    says: /closed the connection too early/,
    answer: (_, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('\x89PNG', 'latin1', () => response.socket?.destroy());
    },
  },
  {
    what: 'a server that does not speak HTTP',
    named: 'error connection',
    says: /no valid HTTP/,
    answer: (_, response) => void response.socket?.end('220 ftp ready\r\n'),
  },
  {
    what: 'a header of 100 KB',
    named: 'error connection',
    says: /HPE_HEADER_OVERFLOW/,
    answer: respond(200, { 'x-padding': 'x'.repeat(100_000) }),
  },
  {
    what: 'a server that sends one byte at a time',
    named: 'error timeout',
    says: /It sent no more within 1 s|stopped after/,
    answer(_, response) {
      const drip = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(drip));
    },
    argv: ['--timeout', '1s'],
    clock: quick,
  },
  {
    what: 'a first byte after 4 seconds',
    named: 'warning slow',
    says: /took 4 s/,
    answer(request, response) {
      slow.jump(4000);
      serveFile(files.png)(request, response);
    },
    clock: slow.clock,
  },
  { what: 'a missing file', named: 'error status', says: /status 404/, answer: respond(404) },
  {
    what: 'a file behind a login',
    named: 'error status',
    says: /status 401.*TVs send no credentials/,
    answer: respond(401),
  },
  { what: 'a failing server', named: 'error status', says: /status 503/, answer: respond(503) },
  {
    what: 'the address of this machine, for a service elsewhere',
    named: 'error address',
    says: /is this machine/,
    answer: serveFile(files.png),
    certificate: 'first',
    argv: [...trust('first'), '--origin', 'https://signage.example.com'],
  },
  {
    what: 'http under a service with https',
    named: 'error mixed',
    says: /Browsers block http files/,
    answer: serveFile(files.png),
    argv: ['--origin', 'https://localhost'],
  },
  {
    what: 'redirects in a circle',
    named: 'error redirect',
    says: /lead back to http:/,
    answer: (request, response) =>
      redirect(request.url === '/b' ? '/media' : '/b')(request, response),
  },
  {
    what: 'endless redirects',
    named: 'error redirect',
    says: /more than 20 redirects/,
    answer: (request, response) => redirect(`${request.url}x`)(request, response),
  },
  {
    what: 'a redirect without a target',
    named: 'error redirect',
    says: /is not an http or https URL/,
    answer: respond(301),
  },
  {
    what: 'a redirect to another scheme',
    named: 'error redirect',
    says: /is not an http or https URL/,
    answer: redirect('file:///etc/passwd'),
  },
  {
    what: 'a missing file whose error page does not end',
    named: 'error status',
    says: /status 404/,
    answer: (_, response) => void response.writeHead(404).write('Not'),
  },
  {
    what: 'a redirect with a password',
    named: 'error redirect',
    says: /has a user name/,
    answer: redirect('http://user:geheim@127.0.0.1/a.png'),
  },
  {
    what: 'an expired signed URL that still works',
    named: 'error expires',
    says: /expired 1 h ago/,
    answer: serveFile(files.png),
    url: (site) => `${site}?Expires=${nowSeconds - 5400}&Signature=x`,
    validUntil: nowSeconds + 86_400,
  },
  {
    what: 'a signed URL that ends before the playlist',
    named: 'warning expires',
    says: /expires in 1 h, and the playlist ends 22 h later/,
    answer: serveFile(files.png),
    url: (site) => `${site}?X-Amz-Date=${basicTime(systemClock.now())}&X-Amz-Expires=5400`,
    validUntil: nowSeconds + 86_400,
  },
  {
    what: 'a signed URL in a playlist without an end',
    named: 'warning expires',
    says: /the playlist has no end/,
    answer: serveFile(files.png),
    url: (site) => `${site}?se=${new Date((nowSeconds + 7200) * 1000).toISOString()}&sig=x`,
  },
  {
    what: 'an empty file',
    named: 'error empty',
    says: /The file is empty/,
    answer: serveFile({ start: Buffer.alloc(0), size: 0, type: 'image/png' }),
  },
  {
    what: 'an HTML page that is served as an image',
    named: 'error content',
    says: /of the type image, but the file is an HTML page/,
    answer: serveFile({ ...files.html, type: 'image/png' }),
  },
  {
    what: 'an error page with status 200',
    named: 'error content',
    says: /but the file is an HTML page/,
    answer: serveFile(files.html),
  },
  {
    what: 'a video as an image',
    named: 'error content',
    says: /but the file is an MP4 video/,
    answer: serveFile(files.mp4),
  },
  {
    what: 'an image format that browsers do not show',
    named: 'error content',
    says: /a HEIC image.*Convert the file/,
    answer: serveFile(files.heic),
  },
  {
    what: 'an HLS playlist as a video',
    named: 'error content',
    says: /an HLS playlist/,
    type: 'video',
    answer: serveFile(files.hls),
  },
  {
    what: 'bytes of no known format',
    named: 'error content',
    says: /in no known format/,
    answer: serveFile({ ...files.png, start: Buffer.alloc(10, 7) }),
  },
  {
    what: 'an image as a page',
    named: 'error content',
    says: /of the type html, but the file is a PNG image/,
    type: 'html',
    answer: serveFile(files.png),
  },
  {
    what: 'an image with the type text/html',
    named: 'error type',
    says: /The Content-Type is text\/html/,
    answer: serveFile({ ...files.png, type: 'text/html' }),
  },
  {
    what: 'an image without a specific type',
    named: 'warning type',
    says: /The Content-Type is application\/octet-stream/,
    answer: serveFile({ ...files.png, type: 'application/octet-stream' }),
  },
  {
    what: 'a page with the type text/plain',
    named: 'error type',
    says: /The Content-Type is text\/plain/,
    type: 'html',
    answer: serveFile({ ...files.html, type: 'text/plain' }),
  },
  {
    what: 'an SVG image with the type text/xml',
    named: 'error type',
    says: /a|image\/svg\+xml/,
    answer: serveFile({ ...files.svg, type: 'text/xml' }),
  },
  {
    what: 'a page that browsers download',
    named: 'error attachment',
    says: /makes the page a download/,
    ...page({ 'content-disposition': 'attachment; filename="menu.html"' }),
  },
  {
    what: 'a page with X-Frame-Options: DENY',
    named: 'error framing',
    says: /X-Frame-Options: DENY/,
    ...page({ 'x-frame-options': 'DENY' }),
  },
  {
    what: 'a page with X-Frame-Options: SAMEORIGIN of another origin',
    named: 'error framing',
    says: /X-Frame-Options: SAMEORIGIN/,
    ...page({ 'x-frame-options': 'SAMEORIGIN' }),
  },
  {
    what: 'a page whose policy allows frames of another host',
    named: 'error framing',
    says: /frame-ancestors 'self' https:\/\/\*\.example\.com/,
    ...page({
      'content-security-policy': "default-src 'none'; frame-ancestors 'self' https://*.example.com",
    }),
  },
  {
    what: 'a compressed image',
    named: 'warning encoding',
    says: /compresses the file \(gzip\)/,
    answer: respond(
      200,
      {
        'content-type': 'image/png',
        'content-encoding': 'gzip',
        'access-control-allow-origin': '*',
      },
      // A gzip bomb: 100 MB of zeros. It is never decompressed.
      gzipSync(Buffer.alloc(100_000_000)),
    ),
  },
  {
    what: 'an endless stream',
    named: 'warning length',
    says: /may be an endless stream/,
    answer(_, response) {
      response.writeHead(200, { 'content-type': 'image/png', 'access-control-allow-origin': '*' });
      response.write(files.png.start);
      const flood = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on('drain', flood);
      flood();
    },
  },
  {
    what: 'a video without range support',
    named: 'warning ranges',
    says: /does not support ranges/,
    ...video({ hasRanges: false }),
  },
  {
    what: 'a 206 without Content-Range',
    named: 'error ranges',
    says: /no Content-Range/,
    ...video({ headers: { 'content-range': undefined } }),
  },
  {
    what: 'a 206 with more bytes than announced',
    named: 'error ranges',
    says: /announces 212 bytes, but the server sent 216|announces 16 bytes/,
    ...video({ wrongRange: (from, to) => [Math.max(0, from - 4), to] }),
  },
  {
    what: 'a second range with the bytes of the first',
    named: 'error ranges',
    says: /differ between two ranges/,
    ...video({ wrongRange: (from, to) => (from > 0 ? [0, to - from] : [from, to]) }),
  },
  {
    what: 'an ignored If-Range',
    named: 'warning if-range',
    says: /outdated validator/,
    ...video({ comparesIfRange: false }),
  },
  {
    what: 'a video without ETag and Last-Modified',
    named: 'warning validator',
    says: /no strong ETag/,
    ...video({ headers: { etag: undefined } }),
  },
  {
    what: 'a video that was not uploaded to its end',
    named: 'error truncated',
    says: /extends beyond its 200000 bytes/,
    type: 'video',
    answer: serveFile(files.mp4Truncated),
  },
  {
    what: 'a video with its index after the media data',
    named: 'warning moov',
    says: /\+faststart/,
    type: 'video',
    answer: serveFile(files.mp4IndexBehind),
  },
  {
    what: 'a video without an index',
    named: 'error moov',
    says: /has no index/,
    type: 'video',
    answer: serveFile(files.mp4WithoutIndex),
  },
  {
    what: 'an image without CORS',
    named: 'warning cors',
    says: /has no Access-Control-Allow-Origin/,
    answer: serveFile(files.png, { headers: { 'access-control-allow-origin': undefined } }),
  },
  {
    what: 'CORS for another origin',
    named: 'warning cors',
    says: /"https:\/\/www\.example\.com", and the origin of the request is http:/,
    answer: serveFile(files.png, {
      headers: { 'access-control-allow-origin': 'https://www.example.com' },
    }),
  },
  {
    what: 'an image that other origins may not show',
    named: 'error cors',
    says: /Cross-Origin-Resource-Policy also forbids/,
    answer: serveFile(files.png, {
      headers: {
        'access-control-allow-origin': undefined,
        'cross-origin-resource-policy': 'same-origin',
      },
    }),
  },
  {
    what: 'a server that refuses OPTIONS',
    named: 'warning preflight',
    says: /to OPTIONS has status 405/,
    ...video({ optionsStatus: 405 }),
  },
  {
    what: 'a server that forbids the header If-Range',
    named: 'warning preflight',
    says: /does not allow the header if-range/,
    ...video({ headers: { 'access-control-allow-headers': 'Range' } }),
  },
  {
    what: 'a server that hides Content-Range from players',
    named: 'warning expose',
    says: /does not name content-range\./,
    ...video({ headers: { 'access-control-expose-headers': 'ETag' } }),
  },
];

describe('signage playlist check finds', () => {
  it.each(sites)('$what: $named', async (bad) => {
    const { answer, certificate, url = (site) => site, named, says, type, argv } = bad;
    const site = answer ? `${(await mediaSite(answer, certificate)).url}/media` : '';
    const item = { url: await url(site), ...(type !== undefined && { type }) };
    const run = await checkItems([item], argv, {
      clock: bad.clock ?? systemClock,
      ...(bad.validUntil !== undefined && { validUntil: bad.validUntil }),
    });
    expect(run.named, run.stdout + run.stderr).toEqual([named]);
    const [finding] = run.findings;
    expect(`${finding?.detail} ${finding?.effect} ${finding?.advice}`).toMatch(says);
    expect(finding).toMatchObject({ screen: null, item: 1, uses: 1 });
    expect(run.code).toBe(named.startsWith('error') ? 9 : 0);
  });

  it('a redirect to another host that allows only the origin of the player', async () => {
    const allowed = { 'access-control-allow-origin': 'http://127.0.0.1:4100' };
    const target = await mediaSite(serveFile(files.png, { headers: allowed }));
    const start = await mediaSite(respond(302, { location: `${target.url}/b.png`, ...allowed }));
    const { code, named, findings } = await checkItems([{ url: `${start.url}/a.png` }]);
    expect(named).toEqual(['warning redirect', 'warning cors']);
    expect(findings[0]?.detail).toContain(`from ${start.url}/a.png to ${target.url}/b.png`);
    expect(findings[1]?.detail).toContain('the origin of the request is null');
    expect(code).toBe(0);
  });

  it('a redirect without CORS to a file with CORS', async () => {
    const site = await mediaSite((request, response) =>
      request.url === '/a.png'
        ? redirect('/b.png')(request, response)
        : serveFile(files.png)(request, response),
    );
    const { named, findings } = await checkItems([{ url: `${site.url}/a.png` }]);
    expect(named).toEqual(['warning cors']);
    expect(findings[0]?.detail).toContain(`${site.url}/a.png has no Access-Control-Allow-Origin`);
  });

  it.each([
    ['http://127.0.0.1', 'warning'],
    ['https://127.0.0.1', 'error'],
  ])('a redirect from https to http, for a service at %s: %s', async (origin, level) => {
    const target = await mediaSite(serveFile(files.png));
    const location = `${target.url}/a.png`;
    const start = await mediaSite(
      respond(302, { location, 'access-control-allow-origin': '*' }),
      'first',
    );
    const { named, findings } = await checkItems(
      [{ url: `${start.url}/a.png` }],
      [...trust('first'), '--origin', origin],
    );
    expect(named).toEqual([`${level} redirect`]);
    expect(findings[0]?.detail).toContain('which is not encrypted');
  });

  it('an index after the media data without ranges as an error', async () => {
    const site = await mediaSite(serveFile(files.mp4IndexBehind, { hasRanges: false }));
    const { code, named } = await checkItems([{ url: site.url, type: 'video' }]);
    expect(named).toEqual(['warning ranges', 'error moov']);
    expect(code).toBe(9);
  });

  it('each kind of problem that it knows', () => {
    const found = new Set(sites.map(({ named }) => named.split(' ')[1]));
    // A size needs the config of a screen: playlist-check.test.ts.
    expect([...found, 'size'].toSorted()).toEqual([...mediaChecks].toSorted());
  });

  it('only kinds of problems that docs/media.md explains', async () => {
    const page = await readFile(new URL('../../../../docs/media.md', import.meta.url), 'utf8');
    const explained = [...page.matchAll(/^\| `([a-z-]+)` \| (?:error|warning)/gm)];
    expect(new Set(explained.map(([, name]) => name))).toEqual(new Set(mediaChecks));
  });
});
