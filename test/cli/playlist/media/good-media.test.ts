import { describe, expect, it } from 'vitest';
import { certificateFile, files, mediaSite, respond, serveFile } from './media-site.ts';
import { checkItems, type ItemOf } from './run-check.ts';

interface GoodMedia {
  what: string;
  type?: string;
  answer: Parameters<typeof mediaSite>[0];
  argv?: readonly string[];
  url?: (site: string) => string;
  certificate?: string;
}

const allowAll = { 'access-control-allow-origin': '*' };
const toOther = respond(302, { location: '/b.png', ...allowAll });

const sites: GoodMedia[] = [
  { what: 'a PNG image', answer: serveFile(files.png) },
  { what: 'an image without range support', answer: serveFile(files.png, { hasRanges: false }) },
  {
    what: 'an image of a server that refuses OPTIONS',
    answer: serveFile(files.png, { optionsStatus: 405 }),
  },
  { what: 'an MP4 video', type: 'video', answer: serveFile(files.mp4) },
  {
    what: 'a video over TLS',
    type: 'video',
    answer: serveFile(files.mp4),
    certificate: 'first',
    argv: ['--ca-file', certificateFile('first')],
  },
  {
    what: 'a huge video for which no config is known',
    type: 'video',
    answer: serveFile(files.hugeMp4),
  },
  {
    what: 'a video of a server that allows all headers, and only the origin of the player',
    type: 'video',
    answer: serveFile(files.mp4, {
      headers: {
        'access-control-allow-origin': 'http://127.0.0.1:4100',
        'access-control-allow-headers': '*',
        'access-control-expose-headers': '*',
      },
    }),
  },
  {
    what: 'a video with Last-Modified in place of an ETag',
    type: 'video',
    answer: serveFile(files.mp4, {
      headers: { etag: undefined, 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT' },
    }),
  },
  { what: 'an HTML page', type: 'html', answer: serveFile(files.html) },
  {
    what: 'a page of fragments without tags',
    type: 'html',
    answer: respond(200, { 'content-type': 'text/html' }, 'Soup of the day: leek'),
  },
  {
    what: 'a compressed page',
    type: 'html',
    answer: respond(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }, 'zipped'),
  },
  {
    what: 'a redirect on the same host',
    answer: (request, response) =>
      (request.url === '/media' ? toOther : serveFile(files.png))(request, response),
  },
  {
    what: 'a redirect to raw UTF-8, which browsers percent-encode',
    answer: (request, response) =>
      (request.url === '/Caf%C3%A9.png'
        ? serveFile(files.png)
        : respond(302, { location: Buffer.from('/Café.png').toString('latin1'), ...allowAll }))(
        request,
        response,
      ),
  },
  { what: 'an SVG image', answer: serveFile(files.svg) },
  {
    what: 'a signed URL that lasts longer than the playlist',
    answer: serveFile(files.png),
    url: (site) => `${site}?Expires=4102444800&Signature=x`,
  },
];

describe('signage playlist check finds nothing wrong with', () => {
  it.each(sites)('$what', async (good) => {
    const { what: _, answer, certificate, url = (one) => one, argv, type } = good;
    const site = await mediaSite(answer, certificate);
    const item: ItemOf = { url: url(`${site.url}/media`), ...(type !== undefined && { type }) };
    const run = await checkItems([item], argv, { validUntil: 4_000_000_000 });
    expect(run.named, run.stdout).toEqual([]);
    expect(run).toMatchObject({
      code: 0,
      stderr: '1 media file checked for a player of http://127.0.0.1:4100: no problem.\n',
    });
  });

  it('media of the origin of the player itself, without CORS', async () => {
    const headers = { 'access-control-allow-origin': undefined };
    const site = await mediaSite(serveFile(files.mp4, { headers, optionsStatus: 405 }));
    const item = { url: `${site.url}/a.mp4`, type: 'video' };
    const run = await checkItems([item], ['--origin', site.url]);
    expect(run.named, run.stdout).toEqual([]);
  });
});
