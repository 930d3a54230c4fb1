import { secondMs } from '../../domain/clock.ts';
import type { ForeignFile, Verdict } from '../../media/examination/verdict.ts';
import type { CommandContext } from '../program/context.ts';
import { type CreativeType, isEncoded, shownTypes } from './content-checks.ts';
import { followRedirects, type Hop } from './follow-redirects.ts';
import { fileSize, firstRange } from './range-checks.ts';
import { makeSender, prefixBytes, type Send, type SendOptions } from './send.ts';
import { sendOptionsOf } from './send-options.ts';

const typeTimeoutMs = 5 * secondMs;
const lengthTimeoutMs = 20 * secondMs;
/** The index of a video is often a single read. */
const lengthPartBytes = 1024 * 1024;

/**
 * Requests the beginning of a file, and hands it on with the means to request more. Returns
 * `undefined` if there is no answer, or no file in it.
 */
async function withFile<T>(
  call: CommandContext,
  url: URL,
  limits: Pick<SendOptions, 'timeoutMs' | 'maxBodyBytes'>,
  use: (hop: Hop, send: Send) => Promise<T>,
): Promise<T | undefined> {
  const options = { ...(await sendOptionsOf(call, limits.timeoutMs)), ...limits, report: () => {} };
  const { send, stop } = makeSender(options);
  try {
    const headersFor = () => ({ range: firstRange });
    const { report } = options;
    const hop = (await followRedirects(url, { player: url, headersFor, send, report }))?.at(-1);
    return hop && [200, 206].includes(hop.reply.status) ? await use(hop, send) : undefined;
  } finally {
    stop();
  }
}

/**
 * Requests the beginning of a file. Returns its type by `Content-Type`, or else by its content.
 * Returns `undefined` if neither says it, or if there is no answer.
 */
export function typeOfUrl(call: CommandContext, url: URL): Promise<CreativeType | undefined> {
  return withFile(call, url, { timeoutMs: typeTimeoutMs }, async ({ reply }) => {
    const sent = reply.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    const types: readonly CreativeType[] = ['image', 'video', 'html'];
    const named = types.find((type) => shownTypes[type].test(sent));
    if (named || isEncoded(reply)) return named;
    const { format } = await call.examine({ head: reply.body, isWhole: reply.isWhole });
    return format?.kind === 'other' ? undefined : format?.kind;
  });
}

/** Returns a file that lies on a server. What the first answer lacks is requested by ranges. */
function fileOf({ url, reply }: Hop, send: Send): ForeignFile {
  const { body, status } = reply;
  const hasRanges = status === 206;
  const size = (hasRanges ? fileSize(reply) : undefined) ?? body.length;
  async function request(start: number, end: number): Promise<Buffer> {
    const part = await send(url, { range: `bytes=${start}-${end - 1}` });
    const isRight = part?.headers['content-range']?.startsWith(`bytes ${start}-${end - 1}/`);
    if (part?.status !== 206 || !isRight || part.body.length !== end - start)
      throw new Error('The server does not send this range.');
    return part.body;
  }
  async function read(start: number, end: number): Promise<Buffer> {
    if (end <= body.length) return body.subarray(start, end);
    const parts: Buffer[] = [];
    for (let at = start; at < end; at += lengthPartBytes)
      parts.push(await request(at, Math.min(end, at + lengthPartBytes)));
    return Buffer.concat(parts);
  }
  const isWhole = size <= prefixBytes && size === body.length;
  return { head: body.subarray(0, prefixBytes), isWhole, source: { size, read } };
}

/** Reads length and codec of a video on a server by a few requests. */
export function videoOfUrl(call: CommandContext, url: URL): Promise<Verdict['video']> {
  const limits = { timeoutMs: lengthTimeoutMs, maxBodyBytes: lengthPartBytes };
  return withFile(call, url, limits, async (hop, send) =>
    isEncoded(hop.reply) ? undefined : (await call.examine(fileOf(hop, send))).video,
  );
}
