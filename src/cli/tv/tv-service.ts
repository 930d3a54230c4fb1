import { makeNodeRequester } from '../../client/node-requester.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { type Exchanged, serviceAddress } from '../../client/transport.ts';
import { SignageError } from '../../domain/error.ts';
import { exchangeLine, readCertificates } from '../api/connect.ts';
import { readAddress } from '../api/profile.ts';
import type { CommandContext } from '../command/context.ts';
import type { SavedTv } from './saved-tv.ts';
import type { TvOptions } from './tv-options.ts';

/** The service that the TV talks to. */
export interface TvService {
  address: string;
  client: RuntimeClient;
}

/**
 * Returns the service that the TV is paired with. Its key is never sent elsewhere. Throws
 * `state_of_elsewhere` if `--url` names another service.
 */
function pairedService(saved: SavedTv | undefined, { url, state }: TvOptions): string | undefined {
  if (!saved?.tv.binding && !saved?.tv.registering) return undefined;
  if (url === undefined || serviceAddress(url) === saved.service) return saved.service;
  throw new SignageError(
    'state_of_elsewhere',
    `The TV in ${state} is paired with ${saved.service}. Its key is not sent to ${url}.`,
    {
      hint: 'Leave out --url, or name another file with --state.',
    },
  );
}

/**
 * Connects to the paired service, or to that of `--url`, or to that of the context. Uses no token.
 */
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
    url: address.url.value,
    clock,
    random,
    makeRequester: makeNodeRequester,
    ...(address.caFile !== undefined && { certificates: await readCertificates(address.caFile) }),
    ...(common.verbose && {
      onExchange: (exchange: Exchanged) => io.stderr.write(exchangeLine(exchange)),
    }),
  });
  return { address: serviceAddress(address.url.value), client };
}
