import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/domain/clock.ts';
import type { LogSink } from '../../src/domain/log.ts';
import { silentLog } from '../../src/domain/log.ts';
import { makeApp } from '../../src/http/app.ts';
import { makeMetrics } from '../../src/http/metrics/metrics.ts';
import type { Bindings } from '../../src/http/request/request-context.ts';
import { makeChain } from '../../src/origin/chain.ts';
import type { PlaylistOrigin } from '../../src/origin/origin.ts';
import { makeStoredOrigin } from '../../src/origin/stored.ts';
import { bootstrap } from '../../src/service/bootstrap.ts';
import { makeServices, type ServiceOptions } from '../../src/service/services.ts';
import type { Store } from '../../src/store/store.ts';
import { ManualClock } from './manual-clock.ts';
import { adminToken, type Sent, sendTo } from './service.ts';

/** The default connection. */
const local: Bindings = { peer: { socket: { remoteAddress: '127.0.0.1' }, headers: {} } };

export interface Parts<C extends Clock> {
  store: Store;
  clock?: C;
  origins?: readonly PlaylistOrigin[];
  /** Replaces `origins` by a complete chain. */
  whole?: Pick<ServiceOptions, 'origins' | 'served'>;
  log?: LogSink;
}

/**
 * Builds the service without its listener, on the given store and origins, for failures that cannot
 * be provoked from outside.
 */
export async function mounted<C extends Clock = ManualClock>({
  store,
  clock = new ManualClock() as Clock as C,
  origins = [makeStoredOrigin((id) => store.read.get('playlists', id), clock)],
  whole = {
    origins: {
      ask: makeChain(
        origins.map((origin) => ({ origin })),
        clock,
      ),
      health: () => [],
    },
  },
  log = silentLog,
}: Parts<C>) {
  const services = makeServices({
    store,
    clock,
    random: randomBytes,
    ...whole,
    codeTtlMinutes: 15,
  });
  await bootstrap(services.deps, adminToken);
  const app = makeApp({
    services,
    clock,
    newId: services.deps.newId,
    log,
    metrics: makeMetrics('0.0.0'),
    version: '0.0.0',
    corsOrigins: [],
    trustedProxies: [],
    stopping: new AbortController().signal,
  });

  const fetch = (request: Request, bindings = local) => app.fetch(request, bindings);

  const send = (method: string, path: string, sent: Sent = {}) =>
    sendTo('http://mounted', method, path, sent, fetch);

  const manage = async (method: string, path: string, body?: unknown) =>
    (await send(method, path, { key: adminToken, body })).body;

  /** Creates a venue, a screen and its code. */
  async function code(): Promise<{ code: string; screenId: string; venueId: string }> {
    const venue = await manage('POST', '/v1/venues', { name: randomBytes(8).toString('hex') });
    const screen = await manage('POST', '/v1/screens', { venueId: venue.id, name: 'Screen' });
    return {
      ...(await manage('POST', '/v1/devices/provisioning-codes', { screenId: screen.id })),
      venueId: venue.id,
    };
  }

  /** Creates a bound TV. */
  async function tv(): Promise<{ deviceId: string; screenId: string; apiKey: string }> {
    return (
      await send('POST', '/devices/register', {
        body: { pairingCode: (await code()).code, deviceInfo: {} },
      })
    ).body;
  }

  return { services, clock, fetch, send, manage, code, tv };
}
