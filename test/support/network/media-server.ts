// A host of media files, for the tests of the web player.
import { createServer, type ServerResponse } from 'node:http';
import { crc32, deflateSync } from 'node:zlib';
import { startLocally } from './local-server.ts';

export interface MediaFile {
  type: string;
  bytes: Uint8Array;
  status?: number;
  /** Omits `Access-Control-Allow-Origin`. */
  withoutCors?: boolean;
  /** Cuts the connection of the first request after this many bytes. */
  cutAfter?: number | undefined;
  /** Does not allow other origins to send `Range` and `If-Range`. */
  withoutRanges?: boolean;
}

/** One request, with its `Range` and `If-Range`. */
interface MediaRequest {
  method: string;
  name: string;
  range: string | undefined;
  ifRange: string | undefined;
  /** Whether a script asks, and not an element of the page. */
  isDownload: boolean;
}

export interface MediaServer {
  url: string;
  files: Map<string, MediaFile>;
  requests: MediaRequest[];
  /** Whether connections are refused, like those of a host without network. */
  isDown: boolean;
}

function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  const tail = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  tail.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, tail]);
}

/** Returns a PNG of one colour, such as `[255, 0, 0]`. */
export function png(color: readonly [number, number, number], width = 64, height = 36): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each of three colours.
  header.set([8, 2], 8);
  const row = Buffer.concat([
    Buffer.from([0]),
    ...Array.from({ length: width }, () => Buffer.from(color)),
  ]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function answer(file: MediaFile, range: string | undefined, outgoing: ServerResponse): void {
  const { bytes, type, status = 200, withoutCors, cutAfter } = file;
  const start = Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
  if (start >= bytes.length && start > 0)
    return void outgoing.writeHead(416, { 'access-control-allow-origin': '*' }).end();
  // Chromium's own cache continues an interrupted response, too.
  const headers: Record<string, string> = {
    'content-type': type,
    'cache-control': 'no-store',
    etag: '"1"',
  };
  if (!withoutCors) headers['access-control-allow-origin'] = '*';
  headers['access-control-expose-headers'] = 'etag, content-range';
  headers['content-length'] = String(bytes.length - start);
  if (start > 0) headers['content-range'] = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
  outgoing.writeHead(start > 0 ? 206 : status, headers);
  if (cutAfter === undefined) outgoing.end(bytes.subarray(start));
  else outgoing.write(bytes.subarray(0, cutAfter), () => setTimeout(() => outgoing.destroy(), 200));
}

/** Starts a host of these files, by name. It is closed after the tests of the file. */
export async function startMediaServer(files: Record<string, MediaFile>): Promise<MediaServer> {
  const server = createServer((incoming, outgoing) => {
    const name = (incoming.url ?? '').slice(1);
    const { range, 'if-range': ifRange } = incoming.headers;
    if (media.isDown) return void incoming.socket.destroy();
    if (incoming.method === 'OPTIONS')
      return void outgoing
        .writeHead(204, {
          'access-control-allow-origin': '*',
          ...(!media.files.get(name)?.withoutRanges && {
            'access-control-allow-headers': 'range, if-range',
          }),
        })
        .end();
    media.requests.push({
      method: incoming.method ?? '',
      name,
      range,
      ifRange: typeof ifRange === 'string' ? ifRange : undefined,
      isDownload: incoming.headers['sec-fetch-dest'] === 'empty',
    });
    const file = media.files.get(name);
    const isFirst = media.requests.filter((one) => one.name === name).length === 1;
    if (file) answer(isFirst ? file : { ...file, cutAfter: undefined }, range, outgoing);
    else outgoing.writeHead(404, { 'access-control-allow-origin': '*' }).end();
  });
  const media: MediaServer = {
    url: (await startLocally(server)).url,
    files: new Map(Object.entries(files)),
    requests: [],
    isDown: false,
  };
  return media;
}
