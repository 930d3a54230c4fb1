import { constants, createInflate } from 'node:zlib';
import type { Picture } from './picture.ts';
import type { WholeFile } from './whole-file.ts';

/** Programs write chunks of 8 KiB and more. */
const maxChunks = 16_384;
/** Of a picture with more bytes, only the chunks are judged: it takes seconds to inflate. */
const maxPixelBytes = 512 * 1024 * 1024;
/** Up to so many bytes, the pixels of a picture with an end are counted, too. */
const quickPixelBytes = 2 * 1024 * 1024;

const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** First column and row of each pass of an interlaced picture, and the steps to the next ones. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Returns the number of bytes that the pixel data inflate to: a byte before each row (PNG, 9). */
function pixelBytesOf(header: Buffer): number {
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const bits = (header[8] ?? 0) * (channels[header[9] ?? 0] ?? 4);
  const bytesOf = (across: number, down: number) =>
    across === 0 ? 0 : down * (1 + Math.ceil((across * bits) / 8));
  if (header[12] === 0) return bytesOf(width, height);
  return passes.reduce(
    (sum, [x, y, stepX, stepY]) =>
      sum + bytesOf(Math.ceil((width - x) / stepX), Math.ceil((height - y) / stepY)),
    0,
  );
}

/** Returns whether parts of a zlib stream inflate to so many bytes. */
async function inflatesTo(wanted: number, parts: readonly Buffer[]): Promise<boolean> {
  const inflate = createInflate({
    chunkSize: 256 * 1024,
    // A stream that is cut is no error.
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  let found = 0;
  const ended = new Promise<void>((resolve) => {
    inflate.on('data', (chunk: Buffer) => {
      found += chunk.length;
      if (found >= wanted) resolve();
    });
    inflate.on('end', resolve).on('error', () => resolve());
  });
  for (const part of parts) inflate.write(part);
  inflate.end();
  await ended;
  inflate.destroy();
  return found >= wanted;
}

/** Reads the chunks of a PNG file, and inflates its pixels if they may end early. */
export async function readPng(file: WholeFile): Promise<Picture> {
  const { bytes } = file;
  const pixels: Buffer[] = [];
  let header: Buffer | undefined;
  let isAnimated = false;
  let hasEnd = false;
  let isBehind = false;
  let at = 8;
  for (let count = 0; !hasEnd && (await file.has(at + 8)); count++) {
    if (count > maxChunks) return { isCostly: true };
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 8 + bytes.readUInt32BE(at);
    if (!/^[A-Za-z]{4}$/.test(type)) break;
    await file.has(end);
    const body = bytes.subarray(at + 8, end);
    if (type === 'IHDR' && body.length >= 13) header ??= body;
    if (type === 'IDAT') pixels.push(body);
    if (type === 'acTL') isAnimated = true;
    isBehind ||= pixels.length > 0 && type !== 'IDAT' && type !== 'fdAT';
    hasEnd = type === 'IEND';
    at = end + 4;
  }
  if (!header) return { cut: 'picture' };
  const size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4), isAnimated };
  if (file.isLonger) return size;
  const wanted = pixelBytesOf(header);
  const isCounted = wanted <= (hasEnd ? quickPixelBytes : maxPixelBytes);
  const isWhole = isCounted ? await inflatesTo(wanted, pixels) : isBehind;
  if (!isWhole || (isAnimated && !hasEnd)) return { ...size, cut: 'picture' };
  return { ...size, cut: hasEnd ? undefined : 'end' };
}
