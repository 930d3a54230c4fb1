// Servers of media files, good and bad.
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { fileURLToPath } from 'node:url';
import { startLocally } from '../../../support/network/local-server.ts';
import { mediaFixture } from '../../../support/service/media-fixtures.ts';

const tlsFile = (name: string) =>
  fileURLToPath(new URL(`../../../fixtures/tls/${name}.pem`, import.meta.url));
/** A certificate of test/fixtures/tls, as a file for `--ca-file`. */
export const certificateFile = (name: string) => tlsFile(`${name}.cert`);

interface MediaSite {
  url: string;
  /** All requests so far: `GET /a.png`. */
  requests: string[];
}

/** Starts a server. `certificate` makes it an https server. */
export async function mediaSite(answer: RequestListener, certificate?: string): Promise<MediaSite> {
  const requests: string[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response as ServerResponse<IncomingMessage> & { req: IncomingMessage });
  };
  const server =
    certificate === undefined
      ? createServer(listener)
      : createTlsServer(
          {
            cert: readFileSync(tlsFile(`${certificate}.cert`)),
            key: readFileSync(tlsFile(`${certificate}.key`)),
          },
          listener,
        );
  const { url } = await startLocally(server);
  return { url: certificate === undefined ? url : url.replace('http', 'https'), requests };
}

/** A media file. `size` bytes: `start`, and then zeros. */
interface MediaFile {
  start: Buffer;
  size: number;
  type: string;
}

const bytesOf = ({ start, size }: MediaFile, from: number, to: number) => {
  // A response of a huge file is cut off. Nobody reads so much of it.
  const bytes = Buffer.alloc(Math.min(to, size, from + 1_000_000) - from);
  start.subarray(from).copy(bytes);
  return bytes;
};

const box = (type: string, size: number) => {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(size, 0);
  header.write(type, 4, 'latin1');
  return header;
};
const filled = (type: string, size: number) =>
  Buffer.concat([box(type, size), Buffer.alloc(size - 8, 1)]);

const png = mediaFixture('pictures/palette.png');
const jpeg = mediaFixture('pictures/baseline.jpg');
const mp4 = mediaFixture('videos/h264.mp4');
const fileType = mp4.subarray(0, mp4.readUInt32BE(0));
const moov = mp4.subarray(fileType.length, fileType.length + mp4.readUInt32BE(fileType.length));
const svg = Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>');
const html = Buffer.from('<!doctype html><title>Menu</title>');

export const files = {
  png: { start: png, size: png.length, type: 'image/png' },
  jpeg: { start: jpeg, size: jpeg.length, type: 'image/jpeg' },
  heic: { start: Buffer.from('\0\0\0\x18ftypheic', 'latin1'), size: 300, type: 'image/heic' },
  svg: { start: svg, size: svg.length, type: 'image/svg+xml' },
  mp4: { start: mp4, size: mp4.length, type: 'video/mp4' },
  /** The index comes after 100,000 bytes of media data. */
  mp4IndexBehind: {
    start: Buffer.concat([fileType, filled('mdat', 100_000), moov]),
    size: fileType.length + 100_000 + moov.length,
    type: 'video/mp4',
  },
  mp4WithoutIndex: {
    start: Buffer.concat([fileType, filled('mdat', 100_000)]),
    size: fileType.length + 100_000,
    type: 'video/mp4',
  },
  /** The media data should have 50 MB, and has 200,000 bytes. */
  mp4Truncated: {
    start: Buffer.concat([fileType, moov, box('mdat', 50_000_000)]),
    size: 200_000,
    type: 'video/mp4',
  },
  hugeMp4: {
    start: Buffer.concat([fileType, moov, box('mdat', 0)]),
    size: 11_000_000_000,
    type: 'video/mp4',
  },
  hls: { start: Buffer.from('#EXTM3U\n'), size: 8, type: 'application/vnd.apple.mpegurl' },
  html: { start: html, size: html.length, type: 'text/html; charset=utf-8' },
} satisfies Record<string, MediaFile>;

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'range, if-range',
  'access-control-expose-headers': 'content-range, etag',
};

export interface ServeOptions {
  /** Replaces or adds headers. `undefined` removes one. */
  headers?: Record<string, string | undefined>;
  /** Whether ranges are supported. Default: true. */
  hasRanges?: boolean;
  /** Whether `If-Range` is compared. Default: true. */
  comparesIfRange?: boolean;
  /** Status of the response to OPTIONS. Default: 204. */
  optionsStatus?: number;
  /** Replaces the range that is sent. */
  wrongRange?(from: number, to: number): [from: number, to: number];
}

/** Answers as a good server of one file, except for the given defects. */
export function serveFile(file: MediaFile, options: ServeOptions = {}): RequestListener {
  const { headers = {}, hasRanges = true, comparesIfRange = true, optionsStatus = 204 } = options;
  const { wrongRange = (from, to) => [from, to] } = options;
  return ({ method, headers: asked }, response) => {
    const head = (status: number, own: OutgoingHttpHeaders) => {
      const all = { 'content-type': file.type, etag: '"v1"', ...cors, ...own, ...headers };
      const sent = Object.entries(all).filter(([, value]) => value !== undefined);
      response.writeHead(status, Object.fromEntries(sent));
    };
    if (method === 'OPTIONS') {
      head(optionsStatus, {});
      return void response.end();
    }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(asked.range ?? '') ?? [];
    const ifRange = asked['if-range']?.toString();
    const current = [undefined, '"v1"', headers['last-modified']];
    const isCurrent = !comparesIfRange || current.includes(ifRange);
    if (!hasRanges || first === undefined || !isCurrent) {
      head(200, { 'content-length': file.size });
      return void response.end(bytesOf(file, 0, file.size));
    }
    if (Number(first) >= file.size) {
      head(416, { 'content-range': `bytes */${file.size}` });
      return void response.end();
    }
    const to = Math.min(Number(last), file.size - 1);
    const [from, end] = wrongRange(Number(first), to);
    head(206, { 'content-range': `bytes ${first}-${to}/${file.size}` });
    response.end(bytesOf(file, from, end + 1));
  };
}

/** Answers with a status, headers and a body. */
export const respond =
  (
    status: number,
    headers: OutgoingHttpHeaders = {},
    body: string | Buffer = '',
  ): RequestListener =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);
