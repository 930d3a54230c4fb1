import type { Clock } from '../../../src/domain/clock.ts';
import { openListener } from '../../../src/http/listener/listener.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { type Running, serve } from '../../../src/serve.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
// Imported first, so that temporary folders are deleted after their services are closed.
import '../disk/temporary-folder.ts';
import { afterEachFile } from '../runtime/clean-up.ts';
import { adminToken, type Manager, manager, recordMaker } from './management.ts';

export { adminToken };

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON body, or `undefined`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface Sent {
  /** Sent as `Authorization: Bearer …`. */
  key?: string;
  headers?: Record<string, string>;
  /**
   * Text and bytes are sent unchanged, everything else as JSON. Default content type:
   * `application/json`.
   */
  body?: unknown;
  /** Omits `Content-Type`. */
  untyped?: boolean;
  signal?: AbortSignal;
}

/** A registered TV. */
export interface BoundTv {
  deviceId: string;
  screenId: string;
  venueId: string;
  tenantId: string;
  apiKey: string;
  /** The pairing code of its registration. */
  code: string;
  config: Record<string, unknown>;
  /** Sends a request to `/devices/<screen id>/<what>` with its key. */
  send(method: string, what: string, sent?: Sent): Promise<Answer>;
}

export interface TestService<C extends Clock = ManualClock> {
  readonly url: string;
  readonly clock: C;
  /** `X-Tenant-Id` of `manage`. The platform token needs it if there are several tenants. */
  tenantId: string | undefined;
  /** Sends a request. Error responses are returned, too. */
  send(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** The same with the platform token. `sent.key` replaces it. */
  manage(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answer>;
  /** Creates a token of the tenant. Returns the secret. */
  token(role: string, sent?: Sent): Promise<string>;
  /** The following create a record, with all parents that are not given, and expect success. */
  venue(fields?: Record<string, unknown>): Promise<Answer['body']>;
  screen(fields?: Record<string, unknown>): Promise<Answer['body']>;
  code(screenId?: string): Promise<{ code: string; screenId: string; expiresAt: string }>;
  tv(screenId?: string): Promise<BoundTv>;
  /** Registers with a code. Error responses are returned, too. */
  register(code: string, sent?: Sent & { deviceInfo?: unknown }): Promise<Answer>;
  /** Closes the service and starts it again with the same options. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const running = new Set<{ close(): Promise<void> }>();
afterEachFile(() => Promise.all([...running].map((service) => service.close())));

/** Sends a request to a service at this URL, or to its `fetch`. */
export async function sendTo(
  base: string,
  method: string,
  path: string,
  { key, headers = {}, body, untyped, signal }: Sent,
  send: (request: Request) => Response | Promise<Response> = fetch,
): Promise<Answer> {
  const all = new Headers(headers);
  if (key !== undefined) all.set('authorization', `Bearer ${key}`);
  if (body !== undefined && !untyped && !all.has('content-type'))
    all.set('content-type', 'application/json');
  // As bytes: `fetch` adds a Content-Type for text.
  const bytes =
    body === undefined || body instanceof Uint8Array
      ? body
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  // A server adds it to a request that it passes to a mounted `fetch`.
  if (bytes && send !== fetch) all.set('content-length', String(bytes.length));
  const request = new Request(`${base}${path}`, {
    method,
    headers: all,
    body: bytes ?? null,
    signal: signal ?? null,
    redirect: 'manual',
  });
  const response = await send(request);
  const text = await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** Returns a caller of the management API of the service at this URL. */
export const managerAt = (url: string, token?: string): Manager =>
  manager({ send: (method, path, sent = {}) => sendTo(url, method, path, sent) }, token);

/** Returns the body of a successful answer. */
export function made({ status, text, body }: Answer): Answer['body'] {
  if (status !== 200 && status !== 201) throw new Error(`${status} ${text}`);
  return body;
}

/** Listens for the same service without the fast path. */
export function listenWithoutFastPath({ fetch }: Pick<Running, 'fetch'>) {
  const onError = (error: Error) => {
    throw error;
  };
  return openListener({
    host: '127.0.0.1',
    port: 0,
    fetch: (request, { incoming }) => fetch(request, incoming.socket),
    onError,
  });
}

/**
 * Starts a service on a free port. Default: in memory, with a `ManualClock`. It is closed after the
 * tests of the file. `run` replaces `serve`.
 *
 * @example
 * const service = await startService();
 * const tv = await service.tv();
 * expect((await tv.send('GET', 'config')).status).toBe(200);
 */
export async function startService<C extends Clock = ManualClock>(
  options: ServeOptions & { clock?: C } = {},
  run: typeof serve = serve,
): Promise<TestService<C>> {
  const clock = options.clock ?? (new ManualClock() as Clock as C);
  const start = () => run({ port: 0, store: 'memory:', adminToken, ...options, clock });
  let current: Running = await start();
  let count = 0;
  const caller = () => manager(service, current.adminToken ?? adminToken, service.tenantId);

  const service: TestService<C> = {
    clock,
    get url() {
      return current.url;
    },
    send: (method, path, sent = {}) => sendTo(current.url, method, path, sent),
    tenantId: undefined,
    manage: (method, path, body, sent = {}) => caller().send(method, path, { ...sent, body }),
    token: async (role, sent) =>
      made(await service.manage('POST', '/v1/tokens', { name: `Token ${++count}`, role }, sent))
        .token,
    ...recordMaker(caller),
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
      await current.close();
      current = await start();
    },
    async close() {
      running.delete(service);
      await current.close();
    },
  };
  running.add(service);
  return service;
}
