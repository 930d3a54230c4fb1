import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/domain/clock.ts';
import { type LogSink, silentLog } from '../../src/domain/log.ts';
import { makeApp } from '../../src/http/app.ts';
import { makeMetrics } from '../../src/http/metrics/metrics.ts';
import type { Bindings } from '../../src/http/request/request-context.ts';
import type { PlaylistOrigin } from '../../src/origin/origin.ts';
import { makeChain } from '../../src/origin/origins.ts';
import { makeStoredOrigin } from '../../src/origin/stored.ts';
import { bootstrap } from '../../src/service/bootstrap.ts';
import { makeServices, type ServiceOptions } from '../../src/service/services.ts';
import type { Store } from '../../src/store/store.ts';
import { ManualClock } from './manual-clock.ts';
import { type Answer, adminToken, type Sent } from './service.ts';

/** The connection of whoever names none. */
const local: Bindings = { peer: { socket: { remoteAddress: '127.0.0.1' }, headers: {} } };

export interface Parts<C extends Clock> {
  store: Store;
  clock?: C;
  origins?: readonly PlaylistOrigin[];
  /** In place of `origins`: all of them as they are put together, and what they watch. */
  whole?: Pick<ServiceOptions, 'origins' | 'served'>;
  log?: LogSink;
}

/**
 * The service without its listener, on a store and origins of one's own: for what cannot be
 * provoked from outside.
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

  async function send(
    method: string,
    path: string,
    { key, headers = {}, body }: Sent = {},
  ): Promise<Answer> {
    const all = new Headers(headers);
    if (key !== undefined) all.set('authorization', `Bearer ${key}`);
    const sent = body === undefined ? null : JSON.stringify(body);
    const response = await fetch(
      new Request(`http://mounted${path}`, {
        method,
        headers: sent ? { 'content-type': 'application/json', ...Object.fromEntries(all) } : all,
        body: sent,
      }),
    );
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  const manage = async (method: string, path: string, body?: unknown) =>
    (await send(method, path, { key: adminToken, body })).body;

  /** A screen that waits for a TV, and a code for it. */
  async function code(): Promise<{ code: string; screenId: string; venueId: string }> {
    const venue = await manage('POST', '/v1/venues', { name: randomBytes(8).toString('hex') });
    const screen = await manage('POST', '/v1/screens', { venueId: venue.id, name: 'Screen' });
    return {
      ...(await manage('POST', '/v1/devices/provisioning-codes', { screenId: screen.id })),
      venueId: venue.id,
    };
  }

  /** A bound TV. */
  async function tv(): Promise<{ deviceId: string; screenId: string; apiKey: string }> {
    return (
      await send('POST', '/devices/register', {
        body: { pairingCode: (await code()).code, deviceInfo: {} },
      })
    ).body;
  }

  return { services, clock, fetch, send, manage, code, tv };
}
