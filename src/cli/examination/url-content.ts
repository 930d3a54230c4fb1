import { secondMs } from '../../domain/clock.ts';
import type { CommandContext } from '../program/context.ts';
import { type CreativeType, isEncoded, shownTypes } from './content-checks.ts';
import { followRedirects } from './follow-redirects.ts';
import { fileSize, firstRange } from './range-checks.ts';
import { remoteFile } from './remote-file.ts';
import { makeSender } from './send.ts';
import { sendOptionsOf } from './send-options.ts';

/** Maximum time for the type and the length of a URL. */
const usualMs = 20 * secondMs;

/** What a server says about a file. */
interface UrlContent {
  /** By `Content-Type`, or else by content. `undefined`: neither says it. */
  type: CreativeType | undefined;
  /** The length of a video in seconds, if it says so. */
  duration: number | undefined;
}

/** Requests the beginning of a file, and the index of a video. `undefined`: there is no file. */
export async function contentOfUrl(
  call: CommandContext,
  url: URL,
  timeoutMs = usualMs,
): Promise<UrlContent | undefined> {
  const report = () => {};
  const { send, stop } = makeSender({ ...(await sendOptionsOf(call, timeoutMs)), report });
  try {
    const headersFor = () => ({ range: firstRange });
    const hop = (await followRedirects(url, { player: url, headersFor, send, report }))?.at(-1);
    if (!hop || ![200, 206].includes(hop.reply.status)) return undefined;
    const sent = hop.reply.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    const types: readonly CreativeType[] = ['image', 'video', 'html'];
    const named = types.find((type) => shownTypes[type].test(sent));
    if (isEncoded(hop.reply)) return { type: named, duration: undefined };
    const { source, ...head } = remoteFile(hop, fileSize(hop.reply), send);
    const isStill = named === 'image' || named === 'html';
    const { format, duration } = await call.examine(isStill ? head : { ...head, source });
    const kind = format?.kind === 'other' ? undefined : format?.kind;
    return { type: named ?? kind, duration };
  } finally {
    stop();
  }
}
