import { createHash } from 'node:crypto';
import type { Manager } from './management.ts';
import type { Sent } from './service.ts';

/** Returns an SVG with this number in it. `bytes` pads it to a size. */
export function someFile(number: number, bytes = 0): Buffer {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><desc>${number}</desc></svg>`;
  return Buffer.from(svg.padEnd(bytes, '\n'));
}

/** Returns the id of a file: its SHA-256. */
export const idOf = (file: Uint8Array) => createHash('sha256').update(file).digest('hex');

/** Uploads a whole file. `query` begins with `?`. */
export const upload = (caller: Manager, file: Uint8Array, query = '', sent: Sent = {}) =>
  caller.send('PUT', `/v1/media/${idOf(file)}${query}`, { body: file, untyped: true, ...sent });

/** Uploads one part of a file. */
export const uploadPart = (caller: Manager, file: Uint8Array, offset: number, end: number) =>
  caller.send('PUT', `/v1/media/${idOf(file)}?offset=${offset}&size=${file.length}`, {
    body: file.subarray(offset, end),
    untyped: true,
  });
