import { nodeRequesterThrough } from '../../client/node-requester.ts';
import type { Exchanged } from '../../client/transport.ts';
import { SignageError } from '../../domain/error.ts';
import { exchangeLine, readCertificates } from '../connection/connect.ts';
import { proxyFor } from '../connection/proxy.ts';
import type { CommandContext } from '../program/context.ts';
import type { SendOptions } from './send.ts';

/** Returns how a command sends requests to media servers, at most this long for each file. */
export async function sendOptionsOf(
  call: CommandContext,
  timeoutMs: number,
): Promise<Omit<SendOptions, 'report'>> {
  const { clock, interrupted, io } = call;
  const { caFile } = await call.profile();
  const certificates = caFile === undefined ? undefined : await readCertificates(caFile);
  const makeRequester = nodeRequesterThrough((url) => proxyFor(url, io.env), false);
  const request = await makeRequester(certificates);
  const requester: typeof request = async (url, parts) => {
    const target = new URL(url);
    if (call.mayExamine && !(await call.mayExamine(target)))
      throw new SignageError('address_refused', `${target.host} is not asked from here.`);
    return request(url, parts);
  };
  return {
    clock,
    timeoutMs,
    requester,
    interrupted,
    onExchange: call.common.verbose
      ? (exchange: Exchanged) => io.stderr.write(exchangeLine(exchange))
      : undefined,
  };
}
