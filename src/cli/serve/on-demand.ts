import type { LogSink } from '../../domain/log.ts';
import type { ServeOptions } from '../../serve/serve-options.ts';
import { isLoopback } from '../api/loopback.ts';
import { readSecretFile } from '../api/private-file.ts';
import type { Io } from '../terminal/io.ts';
import type { ServeValues } from './options.ts';

type OnDemandOptions = Pick<
  ServeOptions,
  | 'onDemandUrl'
  | 'onDemandToken'
  | 'onDemandTtlSeconds'
  | 'onDemandTimeoutMs'
  | 'onDemandConcurrency'
>;

/** Whether requests to the URL cross the network unencrypted. */
function isInClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** Returns the on-demand options. The token comes from the file, else from the environment. */
export async function readOnDemand(
  settings: ServeValues,
  { env }: Io,
  log: LogSink,
): Promise<OnDemandOptions> {
  const {
    onDemandUrl,
    onDemandTokenFile,
    onDemandTtlSeconds,
    onDemandTimeoutMs,
    onDemandConcurrency,
  } = settings;
  const fromFile =
    onDemandTokenFile &&
    (await readSecretFile(onDemandTokenFile, 'The file of the on-demand token'));
  const onDemandToken = fromFile || (onDemandUrl && env.SIGNAGE_ON_DEMAND_TOKEN);
  if (onDemandUrl && onDemandToken && isInClear(onDemandUrl)) {
    log.warn(
      {},
      'The on-demand token crosses the network in clear text: use an on-demand URL with https.',
    );
  }
  return {
    onDemandTtlSeconds,
    onDemandTimeoutMs,
    onDemandConcurrency,
    ...(onDemandUrl && { onDemandUrl }),
    ...(onDemandToken && { onDemandToken }),
  };
}
