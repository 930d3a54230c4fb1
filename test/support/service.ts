import type { Clock } from '../../src/domain/clock.ts';
import { listen } from '../../src/http/listener/listener.ts';
import type { ServeOptions } from '../../src/serve/serve-options.ts';
import { type Running, serve } from '../../src/serve.ts';
import { ManualClock } from './manual-clock.ts';
// Imported for its order too: folders go after the services in them are closed.
import './temporary-folder.ts';
import { afterEachFile } from './clean-up.ts';

export const adminToken = 'mak_TheTokenThatEveryTestStartsWith';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; `undefined` when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface Sent {
  /** Sent as `Authorization: Bearer …`. */
  key?: string;
  headers?: Record<string, string>;
  /**
   * Text and bytes go out as they are, all else as JSON; always as `application/json` unless
   * `headers` say otherwise.
   */
  body?: unknown;
  /** Sends the body without any `Content-Type`. */
  untyped?: boolean;
  signal?: AbortSignal;
}

/** A TV as its registration left it. */
export interface BoundTv {
  deviceId: string;
  screenId: string;
  venueId: string;
  tenantId: string;
  apiKey: string;
  /** The code that it registered with. */
  code: string;
  config: Record<string, unknown>;
  /** Sends to `/devices/<its screen>/<what>` with its key. */
  send(method: string, what: 'playlist' | 'config' | 'events', sent?: Sent): Promise<Answer>;
}

export interface TestService<C extends Clock = ManualClock> {
  readonly url: string;
  readonly clock: C;
  /**
   * Sent by `manage` as `X-Tenant-Id`: where there are several tenants, a platform token must name
   * one.
   */
  tenantId: string | undefined;
  /** One request, whatever the answer. */
  send(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** The same with the platform token, unless `sent.key` says otherwise. */
  manage(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answer>;
  /** Makes a token of the tenant; answers the token itself. */
  token(role: string, sent?: Sent): Promise<string>;
  /**
   * These make what they are named after, with all that it needs and is not given, and expect that
   * to succeed.
   */
  venue(fields?: Record<string, unknown>): Promise<Answer['body']>;
  screen(fields?: Record<string, unknown>): Promise<Answer['body']>;
  code(screenId?: string): Promise<{ code: string; screenId: string; expiresAt: string }>;
  tv(screenId?: string): Promise<BoundTv>;
  /** Registers with a code, whatever the answer. */
  register(code: string, sent?: Sent & { deviceInfo?: unknown }): Promise<Answer>;
  /** Closes the service and starts it again with the same options. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const running = new Set<{ close(): Promise<void> }>();
afterEachFile(() => Promise.all([...running].map((service) => service.close())));

/** One request to a service at this address, whatever the answer. */
export async function sendTo(
  base: string,
  method: string,
  path: string,
  { key, headers = {}, body, untyped, signal }: Sent,
): Promise<Answer> {
  const all = new Headers(headers);
  if (key !== undefined) all.set('authorization', `Bearer ${key}`);
  if (body !== undefined && !untyped && !all.has('content-type'))
    all.set('content-type', 'application/json');
  // As bytes, for text would be given a Content-Type by fetch.
  const bytes =
    body === undefined || body instanceof Uint8Array
      ? body
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const response = await fetch(`${base}${path}`, {
    method,
    headers: all,
    body: bytes ?? null,
    signal: signal ?? null,
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** What was to succeed, and did. */
function made({ status, text, body }: Answer): Answer['body'] {
  if (status !== 200 && status !== 201) throw new Error(`${status} ${text}`);
  return body;
}

/** The same service once more, in front of its app alone. */
export function listenPlainly({ fetch }: Pick<Running, 'fetch'>) {
  const onError = (error: Error) => {
    throw error;
  };
  return listen({
    host: '127.0.0.1',
    port: 0,
    fetch: (request, { incoming }) => fetch(request, incoming.socket),
    onError,
  });
}

/**
 * `serve`, but what is asked of it goes the plain way: past what answers the hot requests before
 * the app.
 */
const servePlainly: typeof serve = async (options) => {
  const { close, ...running } = await serve(options);
  const plain = await listenPlainly(running);
  return { ...running, url: plain.url, close: () => plain.close().then(close) };
};

let usual = serve;
/** From now on, the services of this file are asked the plain way. */
export function takePlainWay(): void {
  usual = servePlainly;
}

/**
 * Starts a service of its own on a free port, in memory and on a `ManualClock` unless told
 * otherwise; closed after the tests of the file. `run`
 * is what starts it, where that is not `serve`.
 *
 * @example
 * const service = await startService();
 * const tv = await service.tv();
 * expect((await tv.send('GET', 'config')).status).toBe(200);
 */
export async function startService<C extends Clock = ManualClock>(
  options: ServeOptions & { clock?: C } = {},
  run: typeof serve = usual,
): Promise<TestService<C>> {
  const clock = options.clock ?? (new ManualClock() as Clock as C);
  const start = () => run({ port: 0, store: 'memory:', adminToken, ...options, clock });
  let now: Running = await start();
  let count = 0;

  const service: TestService<C> = {
    clock,
    get url() {
      return now.url;
    },
    send: (method, path, sent = {}) => sendTo(now.url, method, path, sent),
    tenantId: undefined,
    manage(method, path, body, { headers, ...sent } = {}) {
      const tenant: Record<string, string> =
        service.tenantId === undefined ? {} : { 'x-tenant-id': service.tenantId };
      return service.send(method, path, {
        key: now.adminToken ?? adminToken,
        ...sent,
        headers: { ...tenant, ...headers },
        body,
      });
    },
    token: async (role, sent) =>
      made(await service.manage('POST', '/v1/tokens', { name: `Token ${++count}`, role }, sent))
        .token,
    venue: async (fields = {}) =>
      made(await service.manage('POST', '/v1/venues', { name: `Venue ${++count}`, ...fields })),
    async screen(fields = {}) {
      const venueId = fields.venueId ?? (await service.venue()).id;
      return made(
        await service.manage('POST', '/v1/screens', {
          name: `Screen ${++count}`,
          ...fields,
          venueId,
        }),
      );
    },
    async code(screenId) {
      return made(
        await service.manage('POST', '/v1/devices/provisioning-codes', {
          screenId: screenId ?? (await service.screen()).id,
        }),
      );
    },
    register: (code, { deviceInfo = {}, ...sent } = {}) =>
      service.send('POST', '/devices/register', {
        body: { pairingCode: code, deviceInfo },
        ...sent,
      }),
    async tv(id) {
      const { code, screenId } = await service.code(id);
      const { venueId } = made(await service.manage('GET', `/v1/screens/${screenId}`));
      const registered = made(await service.register(code));
      return {
        ...registered,
        venueId,
        code,
        send: (method, what, sent = {}) =>
          service.send(method, `/devices/${screenId}/${what}`, { key: registered.apiKey, ...sent }),
      };
    },
    async restart() {
      await now.close();
      now = await start();
    },
    async close() {
      running.delete(service);
      await now.close();
    },
  };
  running.add(service);
  return service;
}
