import type { ForeignFile } from '../../media/examination/verdict.ts';
import type { Hop } from './follow-redirects.ts';
import { prefixBytes, type Send } from './send.ts';

const partBytes = 1024 * 1024;
/** A picture is read whole, up to this size. A larger one is judged by its first bytes. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Returns a file that lies on a server. What the first answer lacks is requested by ranges, with
 * its `Origin`, and cannot be read from a server without ranges.
 *
 * @param size of the file in bytes, if known
 */
export function remoteFile(
  { url, origin, reply: { body, status } }: Hop,
  size: number | undefined,
  send: Send,
): ForeignFile {
  let requested = 0;
  async function request(start: number, end: number): Promise<Buffer> {
    requested += end - start;
    if (status !== 206 || requested > maxBytes) throw new Error('Too much would be requested.');
    const part = await send(url, { origin, range: `bytes=${start}-${end - 1}` });
    const isRight = part?.headers['content-range']?.startsWith(`bytes ${start}-${end - 1}/`);
    if (part?.status !== 206 || !isRight || part.body.length !== end - start)
      throw new Error('The server does not send this range.');
    return part.body;
  }
  async function read(start: number, end: number): Promise<Buffer> {
    if (end <= body.length) return body.subarray(start, end);
    const parts: Buffer[] = [];
    for (let at = start; at < end; at += partBytes)
      parts.push(await request(at, Math.min(end, at + partBytes)));
    return Buffer.concat(parts);
  }
  return {
    head: body.subarray(0, prefixBytes),
    isWhole: size === body.length,
    ...(size !== undefined && { source: { size, read } }),
  };
}
