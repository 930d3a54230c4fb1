import { secondMs } from '../../../domain/clock.ts';
import type { CommandContext } from '../../command/context.ts';
import { type CreativeType, isEncoded, shownTypes } from './content-checks.ts';
import { follow } from './follow.ts';
import { firstRange } from './range-checks.ts';
import { makeSender } from './send.ts';
import { sendOptionsOf } from './send-options.ts';
import { sniff } from './sniff.ts';

const timeoutMs = 5 * secondMs;

/**
 * Requests the beginning of a file. Returns its type by `Content-Type`, or else by its content.
 * Returns `undefined` if neither says it, or if there is no answer.
 */
export async function typeOfUrl(call: CommandContext, url: URL): Promise<CreativeType | undefined> {
  const report = () => {};
  const { send, stop } = makeSender({ ...(await sendOptionsOf(call, timeoutMs)), report });
  try {
    const headersFor = () => ({ range: firstRange });
    const reply = (await follow(url, { player: url, headersFor, send, report }))?.at(-1)?.reply;
    if (!reply || (reply.status !== 200 && reply.status !== 206)) return undefined;
    const sent = reply.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    const types: readonly CreativeType[] = ['image', 'video', 'html'];
    const named = types.find((type) => shownTypes[type].test(sent));
    const kind = isEncoded(reply) ? undefined : sniff(reply.body, reply.isWhole)?.kind;
    return named ?? (kind === 'other' ? undefined : kind);
  } finally {
    stop();
  }
}
