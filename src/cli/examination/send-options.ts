import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { nodeRequesterThrough } from '../../client/node-requester.ts';
import type { Exchanged } from '../../client/transport.ts';
import { guardedLookup } from '../../network/guarded-lookup.ts';
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
  const { checkAddress } = call;
  const makeRequester = nodeRequesterThrough(
    (url) => proxyFor(url, io.env),
    false,
    checkAddress && guardedLookup(checkAddress),
  );
  const request = await makeRequester(certificates);
  const requester: typeof request = async (url, parts) => {
    const target = new URL(url);
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // A proxy resolves names itself, and may know some that this machine does not.
    if (checkAddress && (isIP(host) !== 0 || proxyFor(target, io.env)))
      for (const { address } of await lookup(host, { all: true }).catch(() => []))
        checkAddress(address);
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
