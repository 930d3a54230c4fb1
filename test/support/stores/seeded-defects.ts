// Services with one defect each, for testing whether other tests detect it.
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import type { Device, PairingCode } from '../../../src/domain/records/rows.ts';
import { type ListenerOptions, openListener } from '../../../src/http/listener/listener.ts';
import { startNoticeWatch } from '../../../src/service/notices/notice-watch.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { afterEachFile } from '../runtime/clean-up.ts';
import { mounted } from '../service/mounted.ts';
import { adminToken } from '../service/service.ts';
import { rebindingTx, withTx } from './defective-store.ts';

export type Handler = (request: Request) => Promise<Response>;

/** A defect in front of the service, in its store, or in both. */
export interface Defect {
  /** Returns members that replace those of the store. */
  store?(store: Store): Partial<Store>;
  middleware?(next: Handler, store: Store): Handler;
}

const isPath = (request: Request, method: string, path: RegExp) =>
  request.method === method && path.test(new URL(request.url).pathname);
const playlistPath = /^\/devices\/[^/]+\/playlist$/;
const configPath = /^\/devices\/[^/]+\/config$/;
const eventsPath = /^\/devices\/[^/]+\/events$/;

/** Returns the answer with another status, other headers or another body. */
async function rewritten(
  answer: Response,
  {
    status = answer.status,
    headers = {},
    body,
  }: { status?: number; headers?: Record<string, string>; body?: unknown },
) {
  const all = new Headers(answer.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  const text = body === undefined ? await answer.text() : JSON.stringify(body);
  return new Response(text === '' ? null : text, { status, headers: all });
}

const without = (answer: Response, name: string) => {
  answer.headers.delete(name);
  return answer;
};

const jsonOf = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
const peek = async (answer: Response) => jsonOf(await answer.clone().text());

/** Returns a copy of the request with other headers or another body. */
async function copyRequest(
  request: Request,
  more: { headers?: Headers; body?: string } = {},
): Promise<Request> {
  const headers = new Headers(more.headers ?? request.headers);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  // As bytes: `Request` adds a Content-Type for text.
  const body = hasBody ? Buffer.from(more.body ?? (await request.clone().text())) : null;
  headers.delete('content-length');
  // An upload of a file must have it.
  if (body) headers.set('content-length', String(body.length));
  return new Request(request.url, { method: request.method, headers, body });
}

/** Rewrites the answers to one kind of request. */
const answers =
  (
    method: string,
    path: RegExp,
    rewrite: (answer: Response, request: Request) => Response | Promise<Response>,
  ) =>
  (next: Handler): Handler =>
  async (request) => {
    const answer = await next(request.clone() as Request);
    return isPath(request, method, path) ? rewrite(answer, request) : answer;
  };

const problem = async (answer: Response, code: string, status: number) => ({
  status,
  body: { ...(await peek(answer)), status, code },
});

/** A cache in front of the service keeps answering for revoked keys. */
function cacheAnswers(next: Handler): Handler {
  const known = new Map<string, Response>();
  return async (request) => {
    const sent = await request.clone().text();
    const answer = await next(request);
    const place = `${request.method} ${request.url} ${request.headers.get('authorization')}`;
    if (request.method === 'GET' && answer.status === 200)
      known.set(place, answer.clone() as Response);
    if (answer.status !== 401 || (await peek(answer)).code !== 'device_key_revoked') return answer;
    if (isPath(request, 'POST', eventsPath))
      return Response.json({ received: JSON.parse(sent).length }, { status: 202 });
    return (known.get(place)?.clone() as Response | undefined) ?? answer;
  };
}

const tables = { venues: 'venues', screens: 'screens', devices: 'devices' } as const;

/** Reveals that a record of another tenant exists. */
const revealRecords =
  (next: Handler, store: Store): Handler =>
  async (request) => {
    const answer = await next(request);
    const [, , noun = '', id = ''] = new URL(request.url).pathname.split('/');
    const table = tables[noun as keyof typeof tables];
    if (
      !table ||
      (await peek(answer))?.code !== `${noun.slice(0, -1)}_not_found` ||
      !(await store.read.get(table, id))
    )
      return answer;
    return rewritten(answer, await problem(answer, 'insufficient_role', 403));
  };

/** Keys have no prefix outside the service. */
const stripKeyPrefix =
  (next: Handler): Handler =>
  async (request) => {
    const headers = new Headers(request.headers);
    const key = headers
      .get('authorization')
      ?.replace(/^Bearer (?=[0-9A-Za-z]{49}$)/i, 'Bearer dak_');
    if (key !== undefined) headers.set('authorization', key);
    const answer = await next(await copyRequest(request, { headers }));
    if (!isPath(request, 'POST', /^\/devices\/register$/) || answer.status !== 201) return answer;
    const registered = await peek(answer);
    return rewritten(answer, {
      body: { ...registered, apiKey: registered.apiKey.slice('dak_'.length) },
    });
  };

/** Accepts more than 100 events, and stores the first 100. */
const acceptLongBatches =
  (next: Handler): Handler =>
  async (request) => {
    if (!isPath(request, 'POST', eventsPath)) return next(request);
    const text = await request.clone().text();
    const answer = await next(request);
    if (answer.status !== 400) return answer;
    const events = jsonOf(text);
    if (!Array.isArray(events) || events.length <= 100) return answer;
    const some = await copyRequest(request, { body: JSON.stringify(events.slice(0, 100)) });
    return rewritten(await next(some), { body: { received: events.length } });
  };

/** Accepts a name twice. */
const acceptTakenNames =
  (next: Handler): Handler =>
  async (request) => {
    const text = await request.clone().text();
    const answer = await next(request);
    if (
      answer.status !== 409 ||
      (await peek(answer)).code !== 'name_taken' ||
      request.method !== 'POST'
    )
      return answer;
    const body = jsonOf(text);
    const again = await next(
      await copyRequest(request, {
        body: JSON.stringify({ ...body, name: `${body.name} ${crypto.randomUUID()}` }),
      }),
    );
    return rewritten(again, { body: { ...(await peek(again)), name: body.name } });
  };

async function withoutPaths(answer: Response): Promise<Response> {
  const said = await peek(answer);
  return said?.code === 'invalid_request'
    ? rewritten(answer, { body: { ...said, errors: [] } })
    : answer;
}

const suspends = (row: unknown) => (row as Device).state === 'suspended';

/** Defects that a real implementation might have. */
const defects = {
  'acknowledges before storing, and loses': {
    store: () => ({ appendBatch: async () => 'stored' }),
  },
  'forgets idempotency keys': {
    store: (store) => ({
      appendBatch: ({ idempotency: _forgotten, ...batch }) => store.appendBatch(batch),
    }),
  },
  'forgets the keys of creations': {
    store: (store) =>
      withTx(store, (tx) => ({
        find: async (table, index, key) =>
          table === 'creations' ? undefined : tx.find(table, index, key),
        async put(table, row) {
          if (table !== 'creations') await tx.put(table, row);
        },
      })),
  },
  'accepts a revoked key': { middleware: cacheAnswers },
  'lets a used code work again': {
    store: (store) =>
      withTx(store, (tx) =>
        rebindingTx(tx, (code) => (code.state === 'used' ? { ...code, state: 'pending' } : code)),
      ),
  },
  'binds two devices to one screen': {
    store(store) {
      const displaced = new Set<string>();
      const asBound = (row: Device): Device =>
        displaced.has(row.id) ? { ...row, state: 'bound', suspendedAt: null } : row;
      const list: Store['list'] = async (table, query) => {
        const { state: _asked, ...where } = (query.where ?? {}) as { state?: unknown };
        const all = await store.list(table, table === 'devices' ? { ...query, where } : query);
        return table === 'devices'
          ? { ...all, items: (all.items as Device[]).map(asBound) as typeof all.items }
          : all;
      };
      const again = (code: PairingCode): PairingCode =>
        code.state === 'cancelled' ? { ...code, state: 'pending' } : code;
      return { ...withTx(store, (tx) => rebindingTx(tx, again, displaced)), list };
    },
  },
  'accepts an expired code': {
    store: (store) =>
      withTx(store, (tx) =>
        rebindingTx(tx, (code) => ({ ...code, expiresAt: Math.max(code.expiresAt, tx.now + 1) })),
      ),
  },
  'leaves the screen active after a revoke': {
    store(store) {
      return withTx(store, (tx) => {
        let suspending = false;
        const put: typeof tx.put = async (table, row) => {
          suspending ||= table === 'devices' && suspends(row);
          if (!(suspending && table === 'screens')) await tx.put(table, row);
        };
        return { put };
      });
    },
  },
  'counts received off by one': {
    middleware: answers('POST', eventsPath, async (answer) =>
      answer.status === 202
        ? rewritten(answer, { body: { received: (await peek(answer)).received + 1 } })
        : answer,
    ),
  },
  'takes 101 events': { middleware: acceptLongBatches },
  'takes 0 events': {
    middleware: (next) => async (request) => {
      const isEmpty =
        isPath(request, 'POST', eventsPath) && (await request.clone().text()) === '[]';
      const answer = await next(request);
      return isEmpty && answer.status === 400
        ? Response.json({ received: 0 }, { status: 202 })
        : answer;
    },
  },
  'puts another version into the header': {
    middleware: answers('GET', playlistPath, (answer) => {
      const version = answer.headers.get('x-playlist-version');
      return version === null
        ? answer
        : rewritten(answer, { headers: { 'X-Playlist-Version': String(Number(version) + 1) } });
    }),
  },
  'answers 403 for a foreign screen': {
    middleware: (next) => async (request) => {
      const answer = await next(request);
      const isForeign =
        answer.status === 401 && (await peek(answer))?.code === 'device_key_mismatch';
      return isForeign
        ? rewritten(answer, await problem(answer, 'device_key_mismatch', 403))
        : answer;
    },
  },
  'answers 403 for another tenant’s record': { middleware: revealRecords },
  'answers 404 when no config is stored': {
    middleware: answers('GET', configPath, async (answer) =>
      answer.headers.get('x-config-source') === 'default'
        ? without(
            await rewritten(answer, {
              status: 404,
              body: { type: 'about:blank', status: 404, code: 'config_not_found' },
            }),
            'x-config-source',
          )
        : answer,
    ),
  },
  'does not say where the config is from': {
    middleware: answers('GET', configPath, (answer) => without(answer, 'x-config-source')),
  },
  'makes keys without their prefix': { middleware: stripKeyPrefix },
  'leaves WWW-Authenticate out': {
    middleware: (next) => async (request) => without(await next(request), 'www-authenticate'),
  },
  'ignores preconditions': {
    middleware: (next) => (request) => {
      const headers = new Headers(request.headers);
      headers.delete('if-match');
      if (request.method !== 'GET') headers.delete('if-none-match');
      return copyRequest(request, { headers }).then(next);
    },
  },
  'names no path in what is invalid': {
    middleware: (next) => async (request) => withoutPaths(await next(request)),
  },
  'accepts a name twice': { middleware: acceptTakenNames },
} satisfies Record<string, Defect>;

export type DefectName = keyof typeof defects;
export const defectNames = Object.keys(defects) as DefectName[];
export const defectOf = (name: DefectName): Defect => defects[name];

const running = new Set<{ close(): Promise<void> }>();
afterEachFile(() => Promise.all([...running].map((service) => service.close())));

/**
 * Starts a service on a free port, in memory, with this defect. Default: none. It is closed after
 * the tests of the file.
 *
 * @example const { url, adminToken } = await serveWithDefect('counts received off by one');
 */
export async function serveWithDefect(
  which: DefectName | Defect = {},
  { clock = systemClock, limits }: { clock?: Clock; limits?: ListenerOptions['limits'] } = {},
) {
  const defect: Defect = typeof which === 'string' ? defects[which] : which;
  const store = await openStore('memory:', { clock });
  const service = await mounted({
    store: decorateStore(store, defect.store?.(store) ?? {}),
    clock,
  });
  const { deps } = service.services;
  const watched = { ...deps, ...service.services, startDelivery: () => async () => {} };
  const stopWatch = startNoticeWatch(watched, silentLog);
  const fetch = defect.middleware?.(async (request) => service.fetch(request), store);
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    fetch: fetch ?? service.fetch,
    onError: () => {},
    ...(limits && { limits }),
  });
  const started = {
    url: listener.url,
    adminToken,
    async close() {
      running.delete(started);
      await listener.close();
      await stopWatch();
      await store.close();
    },
  };
  running.add(started);
  return started;
}
