import type { Clock } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { OnDemandPlaylists } from '../origin.ts';
import { type BrokenSource, makeOnDemandSource } from './source.ts';

export interface OnDemandSettings {
  /** The source as a function, or behind a URL: not both. */
  playlists: OnDemandPlaylists | undefined;
  url: string | undefined;
  token: string | undefined;
  ttlMs: number;
  timeoutMs: number;
  concurrency: number;
}

export interface OpenSource {
  source: BrokenSource;
  close(): Promise<void>;
}

const refused = (why: string) => new SignageError('invalid_option', why);

/** A bearer token as RFC 6750 has it; no message shows one that is none. */
function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\w\-.~+/]+=*$/.test(token)) return;
  throw refused(
    'The on-demand token holds characters that no bearer token has: letters, digits and - . _ ~ + / = are allowed.',
  );
}

/** The on-demand source, if one was named. Throws `invalid_option`. */
export async function openOnDemand(
  { playlists, url, token, ...limits }: OnDemandSettings,
  clock: Clock,
): Promise<OpenSource | undefined> {
  if (playlists && url !== undefined)
    throw refused('There is one on-demand source: give a function or a URL, not both.');
  if (token !== undefined && url === undefined)
    throw refused('An on-demand token needs an on-demand URL.');
  checkToken(token);
  if (playlists) {
    const ask = makeOnDemandSource({
      ...{ ...limits, clock },
      ask: ({ id, tenantId, venueId, name, labels }, signal) =>
        playlists({ id, tenantId, venueId, name, labels: { ...labels } }, signal),
    });
    return { source: ask, close: async () => {} };
  }
  if (url === undefined) return undefined;
  // With undici, which takes a fifth of the time to load all that a service needs.
  const { onDemandHttp } = await import('./http.ts');
  const http = onDemandHttp({
    url,
    token,
    clock,
    connections: limits.concurrency,
    connectTimeoutMs: limits.timeoutMs,
  });
  return { source: makeOnDemandSource({ ...limits, clock, ask: http.ask }), close: http.close };
}
