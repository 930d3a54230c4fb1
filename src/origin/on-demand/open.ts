import type { Clock } from '../../domain/clock.ts';
import { invalidOption } from '../../domain/error.ts';
import type { LogSink } from '../../domain/log.ts';
import type { OnDemandPlaylists } from '../origin.ts';
import { type GuardedSource, makeOnDemandSource } from './source.ts';

export interface OnDemandSettings {
  /** The source as a function. Must be absent if `url` is given. */
  playlists: OnDemandPlaylists | undefined;
  url: string | undefined;
  token: string | undefined;
  ttlMs: number;
  timeoutMs: number;
  concurrency: number;
}

export interface OpenOnDemandSource {
  source: GuardedSource;
  close(): Promise<void>;
}

/** Checks the syntax of a bearer token (RFC 6750). No message contains an invalid token. */
function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\w\-.~+/]+=*$/.test(token)) return;
  throw invalidOption(
    'The on-demand token has invalid characters: letters, digits and - . _ ~ + / = are allowed.',
  );
}

/** Opens the configured on-demand source, if any. Throws `invalid_option`. */
export async function openOnDemand(
  { playlists, url, token, ...limits }: OnDemandSettings,
  clock: Clock,
  log?: LogSink,
): Promise<OpenOnDemandSource | undefined> {
  if (playlists && url !== undefined)
    throw invalidOption(
      'Only one on-demand source is possible: give a function or a URL, not both.',
    );
  if (token !== undefined && url === undefined)
    throw invalidOption('An on-demand token needs an on-demand URL.');
  checkToken(token);
  if (playlists) {
    const source = makeOnDemandSource({
      ...limits,
      clock,
      ask: ({ id, tenantId, venueId, name, labels }, signal) =>
        playlists({ id, tenantId, venueId, name, labels: { ...labels } }, signal),
    });
    return { source, close: async () => {} };
  }
  if (url === undefined) return undefined;
  // Loaded on demand: undici takes a fifth of the load time of the service.
  const { onDemandHttp } = await import('./http.ts');
  const http = onDemandHttp({
    url,
    token,
    clock,
    connections: limits.concurrency,
    connectTimeoutMs: limits.timeoutMs,
    log,
  });
  return { source: makeOnDemandSource({ ...limits, clock, ask: http.ask }), close: http.close };
}
