import type { Exchanged } from '../../../client/transport.ts';
import { exchangeLine, readCertificates } from '../../api/connect.ts';
import { proxyFor } from '../../api/proxy.ts';
import type { CommandContext } from '../../command/context.ts';
import type { SendOptions } from './send.ts';

/** Returns how a command sends requests to media servers, at most this long for each file. */
export async function sendOptionsOf(
  call: CommandContext,
  timeoutMs: number,
): Promise<Omit<SendOptions, 'report'>> {
  const { clock, interrupted, io } = call;
  const { caFile } = await call.profile();
  return {
    clock,
    timeoutMs,
    certificates: caFile === undefined ? undefined : await readCertificates(caFile),
    proxyFor: (url) => proxyFor(url, io.env),
    interrupted,
    onExchange: call.common.verbose
      ? (exchange: Exchanged) => io.stderr.write(exchangeLine(exchange))
      : undefined,
  };
}
