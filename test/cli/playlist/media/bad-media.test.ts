import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mediaChecks } from '../../../../src/cli/examination/finding.ts';
import { type Clock, systemClock } from '../../../../src/domain/clock.ts';
import { fileChecks } from '../../../../src/media/examination/file-finding.ts';
import { freePort } from '../../../support/network/free-port.ts';
import {
  certificateFile,
  files,
  mediaSite,
  respond,
  type ServeOptions,
  serveFile,
} from './media-site.ts';
import { checkItems } from './run-check.ts';

interface More {
  /** Default: image. */
  type?: string;
  storage?: boolean;
  certificate?: string;
  /** The URL of the item. Default: that of the server. */
  url?: (site: string) => string | Promise<string>;
  argv?: readonly string[];
  clock?: Clock;
}

interface BadMedia extends More {
  what: string;
  /** The only finding: `error dns`. */
  named: string;
  /** Part of its text. */
  says: RegExp;
  /** Answers requests. `undefined`: no server. */
  answer: RequestListener | undefined;
}

const bad = (
  what: string,
  named: string,
  says: RegExp,
  answer: RequestListener | undefined,
  more: More = {},
): BadMedia => ({ what, named, says, answer, ...more });

const png = serveFile(files.png);
const badVideo = (what: string, named: string, says: RegExp, defect: ServeOptions) =>
  bad(what, named, says, serveFile(files.mp4, defect), { type: 'video' });
const trust = (certificate: string) => ['--ca-file', certificateFile(certificate)];
const redirect = (location: string) => respond(302, { location });
const write =
  (text: string): RequestListener =>
  (_, response) =>
    void response.socket?.write(text, 'latin1');
const without = (header: string, more: Record<string, string> = {}) => ({
  headers: { [header]: undefined, ...more },
});
const allow = 'access-control-allow-origin';

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
const soon = { argv: ['--timeout', '2s'], clock: quick };

const sites: BadMedia[] = [
  bad('a host that does not exist', 'error dns', /cannot be resolved \(ENOTFOUND\)/, undefined, {
    // The label is too long for a name, so nothing is asked on the network.
    url: () => `http://${'a'.repeat(64)}.invalid/a.png`,
  }),
  bad('a port on which nothing listens', 'error connect', /ECONNREFUSED/, undefined, {
    url: async () => `http://127.0.0.1:${await freePort()}/a.png`,
  }),
  bad('an expired certificate', 'error tls', /has expired/, png, {
    certificate: 'expired',
    argv: trust('expired'),
  }),
  bad('a foreign certificate', 'error tls', /for elsewhere\.test, not for 127\.0\.0\.1/, png, {
    certificate: 'elsewhere',
    argv: trust('elsewhere'),
  }),
  bad('a self-signed certificate', 'error tls', /self-signed/, png, { certificate: 'first' }),
  bad('https on a port that speaks http', 'error tls', /TLS with 127\.0\.0\.1:\d+ failed/, png, {
    url: (site) => site.replace('http:', 'https:'),
  }),
  bad('a server that never answers', 'error timeout', /did not answer/, () => {}, soon),
  bad(
    'a server that stops in the middle',
    'error timeout',
    /stopped after 4 bytes/,
    (_, response) => void response.writeHead(200).write('\x89PNG', 'latin1'),
    soon,
  ),
  bad(
    'a server that stops in the middle of a file without a length',
    'error timeout',
    /stopped after 4 bytes/,
    write('HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG'),
    soon,
  ),
  bad(
    'a server that sends one byte at a time',
    'error timeout',
    /It sent no more within 2 s|stopped after/,
    (_, response) => {
      const drip = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(drip));
    },
    soon,
  ),
  bad(
    'a server that switches to another protocol',
    'error connection',
    /closed the connection too early/,
    write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: tv\r\nConnection: Upgrade\r\n\r\n'),
  ),
  bad(
    'a server that hangs up',
    'error connection',
    /closed the connection too early/,
    (_, response) => void response.socket?.destroy(),
  ),
  bad(
    'a server that closes before the end of the file',
    'error connection',
    /closed the connection too early/,
    (_, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('\x89PNG', 'latin1', () => response.socket?.destroy());
    },
  ),
  bad(
    'a server that does not speak HTTP',
    'error connection',
    /no valid HTTP/,
    (_, response) => void response.socket?.end('220 ftp ready\r\n'),
  ),
  bad(
    'a header of 100 KB',
    'error connection',
    /HPE_HEADER_OVERFLOW/,
    respond(200, { 'x-padding': 'x'.repeat(100_000) }),
  ),
  bad(
    'a first byte after 4 seconds',
    'warning slow',
    /took 4 s/,
    (request, response) => {
      slow.jump(4000);
      png(request, response);
    },
    { clock: slow.clock },
  ),
  bad('a missing file', 'error status', /status 404/, respond(404)),
  bad(
    'a missing file whose error page does not end',
    'error status',
    /status 404/,
    (_, response) => void response.writeHead(404).write('Not'),
  ),
  bad('the address of this machine, for a service elsewhere', 'error address', /is this/, png, {
    certificate: 'first',
    argv: [...trust('first'), '--origin', 'https://signage.example.com'],
  }),
  bad('http under a service with https', 'error mixed', /Browsers block http files/, png, {
    argv: ['--origin', 'https://localhost'],
  }),
  bad('redirects in a circle', 'error redirect', /lead back to http:/, (request, response) =>
    redirect(request.url === '/b' ? '/media' : '/b')(request, response),
  ),
  bad('endless redirects', 'error redirect', /more than 20 redirects/, (request, response) =>
    redirect(`${request.url}x`)(request, response),
  ),
  bad('a redirect without a target', 'error redirect', /is not an http or https URL/, respond(301)),
  bad(
    'a redirect to another scheme',
    'error redirect',
    /is not an http or https URL/,
    redirect('file:///etc/passwd'),
  ),
  bad(
    'a redirect with a password',
    'error redirect',
    /has a user name/,
    redirect('http://user:geheim@127.0.0.1/a.png'),
  ),
  bad('an expired signed URL that still works', 'error expires', /expired 1 h ago/, png, {
    url: (site) => `${site}?Expires=${Math.floor(systemClock.now() / 1000) - 5400}&Signature=x`,
  }),
  bad(
    'an empty file',
    'error empty',
    /The file is empty/,
    serveFile({ start: Buffer.alloc(0), size: 0, type: 'image/png' }),
  ),
  bad(
    'an error page with status 200',
    'error content',
    /but the file is an HTML page/,
    serveFile(files.html),
  ),
  bad(
    'an image without a specific type',
    'warning type',
    /The Content-Type is application\/octet-stream/,
    serveFile({ ...files.png, type: 'application/octet-stream' }),
  ),
  bad(
    'a page that browsers download',
    'error attachment',
    /makes the page a download/,
    serveFile(files.html, {
      headers: { 'content-disposition': 'attachment; filename="menu.html"' },
    }),
    { type: 'html' },
  ),
  bad(
    'a page whose policy allows frames of another host',
    'error framing',
    /frame-ancestors 'self' https:\/\/\*\.example\.com/,
    serveFile(files.html, {
      headers: { 'content-security-policy': "frame-ancestors 'self' https://*.example.com" },
    }),
    { type: 'html' },
  ),
  bad(
    'a page that sets cookies',
    'warning storage',
    /uses cookies\. .*"storage": true/,
    serveFile(files.html, { headers: { 'set-cookie': 'session=1' } }),
    { type: 'html' },
  ),
  bad(
    'a page with modules and storage',
    'warning storage',
    /uses storage, JavaScript modules/,
    respond(
      200,
      { 'content-type': 'text/html' },
      '<!doctype html><script type="module">localStorage.count = 1</script>',
    ),
    { type: 'html' },
  ),
  bad(
    'storage for a service without HTTPS',
    'warning isolation',
    /without HTTPS/,
    serveFile(files.html),
    { type: 'html', storage: true },
  ),
  bad(
    'a compressed image',
    'warning encoding',
    /compresses the file \(gzip\)/,
    respond(
      200,
      { 'content-type': 'image/png', 'content-encoding': 'gzip', [allow]: '*' },
      // A gzip bomb: 100 MB of zeros. It is never decompressed.
      gzipSync(Buffer.alloc(100_000_000)),
    ),
  ),
  bad('an endless stream', 'warning length', /may be an endless stream/, (_, response) => {
    response.writeHead(200, { 'content-type': 'image/png', [allow]: '*' });
    response.write(files.png.start);
    const flood = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    };
    response.on('drain', flood);
    flood();
  }),
  badVideo('a video without range support', 'warning ranges', /does not support ranges/, {
    hasRanges: false,
  }),
  bad(
    'a page with status 206, which was not asked for a range',
    'error status',
    /although the request has no Range/,
    respond(206, { 'content-type': 'text/html', 'content-range': 'bytes 0-5/6' }, '<html>'),
    { type: 'html' },
  ),
  bad(
    'an SVG image without its namespace',
    'error content',
    /an SVG image with an error: its root element lacks xmlns=/,
    respond(200, { 'content-type': 'image/svg+xml', [allow]: '*' }, '<svg width="1"/>'),
  ),
  badVideo(
    'a 206 without Content-Range',
    'error ranges',
    /no Content-Range/,
    without('content-range'),
  ),
  badVideo('a 206 with more bytes than announced', 'error ranges', /announces \d+ bytes/, {
    wrongRange: (from, to) => [Math.max(0, from - 4), to],
  }),
  badVideo('a second range with the bytes of the first', 'error ranges', /differ between two/, {
    wrongRange: (from, to) => (from > 0 ? [0, to - from] : [from, to]),
  }),
  badVideo('an ignored If-Range', 'warning if-range', /outdated validator/, {
    comparesIfRange: false,
  }),
  badVideo('no ETag and Last-Modified', 'warning validator', /no strong ETag/, without('etag')),
  bad(
    'a video that was not uploaded to its end',
    'error truncated',
    /has 200,000 bytes of 50,000,/,
    serveFile(files.mp4Truncated),
    { type: 'video' },
  ),
  bad(
    'a video with its index after the media data',
    'warning moov',
    /\+faststart/,
    serveFile(files.mp4IndexBehind),
    { type: 'video' },
  ),
  bad('a video without an index', 'error moov', /has no index/, serveFile(files.mp4WithoutIndex), {
    type: 'video',
  }),
  bad(
    'an image without CORS',
    'warning cors',
    /has no Access-Control-Allow-Origin/,
    serveFile(files.png, without(allow)),
  ),
  bad(
    'CORS for another origin',
    'warning cors',
    /"https:\/\/www\.example\.com", and the origin of the request is http:/,
    serveFile(files.png, { headers: { [allow]: 'https://www.example.com' } }),
  ),
  bad(
    'an image that other origins may not show',
    'error cors',
    /Cross-Origin-Resource-Policy also forbids/,
    serveFile(files.png, without(allow, { 'cross-origin-resource-policy': 'same-origin' })),
  ),
  badVideo('a server that refuses OPTIONS', 'warning preflight', /to OPTIONS has status 405/, {
    optionsStatus: 405,
  }),
  badVideo('a server that forbids If-Range', 'warning preflight', /not allow the header if-range/, {
    headers: { 'access-control-allow-headers': 'Range' },
  }),
  badVideo('a server that hides Content-Range', 'warning expose', /not name content-range\./, {
    headers: { 'access-control-expose-headers': 'ETag' },
  }),
];

describe('signage playlist check finds', () => {
  it.each(sites)('$what: $named', async ({ named, says, answer, certificate, ...more }) => {
    const { url = (site: string) => site, type, storage, argv, clock = systemClock } = more;
    const site = answer ? `${(await mediaSite(answer, certificate)).url}/media` : '';
    const item = {
      url: await url(site),
      ...(type !== undefined && { type }),
      ...(storage !== undefined && { storage }),
    };
    const run = await checkItems([item], argv, { clock });
    expect(run.named, run.stdout + run.stderr).toEqual([named]);
    const [finding] = run.findings;
    expect(`${finding?.detail} ${finding?.effect} ${finding?.advice}`).toMatch(says);
    expect(finding).toMatchObject({ screen: null, item: 1, uses: 1 });
    expect(run.code).toBe(named.startsWith('error') ? 9 : 0);
  });

  it('a redirect to another host that allows only the origin of the player', async () => {
    const allowed = { [allow]: 'http://127.0.0.1:4100' };
    const target = await mediaSite(serveFile(files.png, { headers: allowed }));
    const start = await mediaSite(respond(302, { location: `${target.url}/b.png`, ...allowed }));
    const { code, named, findings } = await checkItems([{ url: `${start.url}/a.png` }]);
    expect([code, named]).toEqual([0, ['warning redirect', 'warning cors']]);
    expect(findings[0]?.detail).toContain(`from ${start.url}/a.png to ${target.url}/b.png`);
    expect(findings[1]?.detail).toContain('the origin of the request is null');
  });

  it('a redirect without CORS to a file with CORS', async () => {
    const site = await mediaSite((request, response) =>
      (request.url === '/a.png' ? redirect('/b.png') : png)(request, response),
    );
    const { named, findings } = await checkItems([{ url: `${site.url}/a.png` }]);
    expect(named).toEqual(['warning cors']);
    expect(findings[0]?.detail).toContain(`${site.url}/a.png has no Access-Control-Allow-Origin`);
  });

  it.each([
    ['http://127.0.0.1', 'warning'],
    ['https://127.0.0.1', 'error'],
  ])('a redirect from https to http, for a service at %s: %s', async (origin, level) => {
    const location = `${(await mediaSite(png)).url}/a.png`;
    const { url } = await mediaSite(respond(302, { location, [allow]: '*' }), 'first');
    const argv = [...trust('first'), '--origin', origin];
    const { named, findings } = await checkItems([{ url: `${url}/a.png` }], argv);
    expect(named).toEqual([`${level} redirect`]);
    expect(findings[0]?.detail).toContain('which is not encrypted');
  });

  it('storage for a page at the address of the service', async () => {
    const { url } = await mediaSite(serveFile(files.html));
    const item = { url: `${url}/menu.html`, type: 'html', storage: true };
    const { named, findings } = await checkItems([item], ['--origin', url]);
    expect(named).toEqual(['warning storage']);
    expect(findings[0]?.effect).toContain('never gets its cookies');
  });

  it('an index after the media data without ranges as an error', async () => {
    const site = await mediaSite(serveFile(files.mp4IndexBehind, { hasRanges: false }));
    const { code, named } = await checkItems([{ url: site.url, type: 'video' }]);
    expect([code, named]).toEqual([9, ['warning ranges', 'error moov']]);
  });

  it('each kind of problem that it knows', () => {
    const found = new Set(sites.map(({ named }) => named.split(' ')[1]));
    // A size needs the config of a screen: playlist-check.test.ts. Files: media/examination.
    const all = new Set([...found, 'size', ...fileChecks]);
    expect([...all].toSorted()).toEqual([...mediaChecks].toSorted());
  });

  it('only kinds of problems that docs/media.md explains', async () => {
    const page = await readFile(new URL('../../../../docs/media.md', import.meta.url), 'utf8');
    const explained = [...page.matchAll(/^\| `([a-z-]+)` \| (?:error|warning)/gm)];
    expect(new Set(explained.map(([, name]) => name))).toEqual(new Set(mediaChecks));
  });
});
