import { makeNodeRequester } from '../../client/node-requester.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { type Exchanged, serviceAddress } from '../../client/transport.ts';
import { SignageError } from '../../domain/error.ts';
import { exchangeLine, readCertificates } from '../api/connect.ts';
import { readAddress } from '../api/profile.ts';
import type { CommandContext } from '../command/context.ts';
import type { SavedTv } from './saved-tv.ts';
import type { TvOptions } from './tv-options.ts';

/** The service of the TV. */
export interface TvService {
  address: string;
  client: RuntimeClient;
}

/** A key is for one service; a TV that has one stays with it. Throws `state_of_elsewhere`. */
function pairedService(saved: SavedTv | undefined, { url, state }: TvOptions): string | undefined {
  if (!saved?.tv.binding && !saved?.tv.registering) return undefined;
  if (url === undefined || serviceAddress(url) === saved.service) return saved.service;
  throw new SignageError(
    'state_of_elsewhere',
    `The TV of ${state} is paired with ${saved.service}, and its key is not sent to ${url}.`,
    {
      hint: 'Leave --url out, or name another file for --state.',
    },
  );
}

/** The service that is named, or that the TV is paired with already, or that of the context; no token is looked for. */
export async function tvService(
  { io, clock, random, common }: CommandContext,
  options: TvOptions,
  saved: SavedTv | undefined,
): Promise<TvService> {
  const url = pairedService(saved, options) ?? options.url;
  const address = await readAddress(
    { url, context: options.context, caFile: options.caFile, insecureHttp: options.insecureHttp },
    io,
  );
  const client = new RuntimeClient({
    ...{ url: address.url.value, clock, random, makeRequester: makeNodeRequester },
    ...(address.caFile !== undefined && { certificates: await readCertificates(address.caFile) }),
    ...(common.verbose && {
      onExchange: (exchange: Exchanged) => io.stderr.write(exchangeLine(exchange)),
    }),
  });
  return { address: serviceAddress(address.url.value), client };
}
