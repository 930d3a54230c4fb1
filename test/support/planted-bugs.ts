// Services with one bug each, planted around the parts that the real one is made of: whoever claims
// to find bugs is tried on these.
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import type { Device, PairingCode } from '../../src/domain/records/rows.ts';
import { listen } from '../../src/http/listener/listener.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { afterEachFile } from './clean-up.ts';
import { mounted } from './mounted.ts';
import { binding, overriding, withTx } from './planted-store.ts';
import { adminToken } from './service.ts';

/** What answers a request. */
export type Pass = (request: Request) => Promise<Response>;

/** What is wrong with a service, put around the parts that the real one is made of. */
export interface Bug {
  /** Replaces members of the store. */
  store?(store: Store): Partial<Store>;
  /** Stands in front of the service; `pass` is the service itself. */
  front?(pass: Pass, store: Store): Pass;
}

const isPath = (request: Request, method: string, path: RegExp) =>
  request.method === method && path.test(new URL(request.url).pathname);
const playlistPath = /^\/devices\/[^/]+\/playlist$/;
const configPath = /^\/devices\/[^/]+\/config$/;
const eventsPath = /^\/devices\/[^/]+\/events$/;

/** The answer with another status, other headers or another body. */
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

/** The request once more, with other headers or another body. */
async function remade(
  request: Request,
  more: { headers?: Headers; body?: string } = {},
): Promise<Request> {
  const headers = new Headers(more.headers ?? request.headers);
  headers.delete('content-length');
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  // As bytes, for a text would be given a Content-Type.
  const body = hasBody ? Buffer.from(more.body ?? (await request.clone().text())) : null;
  return new Request(request.url, { method: request.method, headers, body });
}

/** Rewrites the answers to one kind of request. */
const answers =
  (
    method: string,
    path: RegExp,
    rewrite: (answer: Response, request: Request) => Response | Promise<Response>,
  ) =>
  (pass: Pass): Pass =>
  async (request) => {
    const answer = await pass(request.clone() as Request);
    return isPath(request, method, path) ? rewrite(answer, request) : answer;
  };

const problem = async (answer: Response, code: string, status: number) => ({
  status,
  body: { ...(await peek(answer)), status, code },
});

/** As if a cache before the service went on answering for keys that are dead. */
function cachingFront(pass: Pass): Pass {
  const known = new Map<string, Response>();
  return async (request) => {
    const sent = await request.clone().text();
    const answer = await pass(request);
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

/** Tells those who may not know of a record that it exists. */
const tellingFront =
  (pass: Pass, store: Store): Pass =>
  async (request) => {
    const answer = await pass(request);
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

/** Keys lose their prefix on the way out, and get it back on the way in. */
const barePrefixFront =
  (pass: Pass): Pass =>
  async (request) => {
    const headers = new Headers(request.headers);
    const key = headers
      .get('authorization')
      ?.replace(/^Bearer (?=[0-9A-Za-z]{49}$)/i, 'Bearer dak_');
    if (key !== undefined) headers.set('authorization', key);
    const answer = await pass(await remade(request, { headers }));
    if (!isPath(request, 'POST', /^\/devices\/register$/) || answer.status !== 201) return answer;
    const registered = await peek(answer);
    return rewritten(answer, {
      body: { ...registered, apiKey: registered.apiKey.slice('dak_'.length) },
    });
  };

/** Takes more events than a batch may have. */
const generousFront =
  (pass: Pass): Pass =>
  async (request) => {
    if (!isPath(request, 'POST', eventsPath)) return pass(request);
    const text = await request.clone().text();
    const answer = await pass(request);
    if (answer.status !== 400) return answer;
    const events = jsonOf(text);
    if (!Array.isArray(events) || events.length <= 100) return answer;
    const some = await remade(request, { body: JSON.stringify(events.slice(0, 100)) });
    return rewritten(await pass(some), { body: { received: events.length } });
  };

/** A name that is taken is taken again. */
const renamingFront =
  (pass: Pass): Pass =>
  async (request) => {
    const text = await request.clone().text();
    const answer = await pass(request);
    if (
      answer.status !== 409 ||
      (await peek(answer)).code !== 'name_taken' ||
      request.method !== 'POST'
    )
      return answer;
    const body = jsonOf(text);
    const again = await pass(
      await remade(request, {
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

/** Each is a bug that an implementation could well have. */
const bugs = {
  'acknowledges before storing, and loses': {
    store: () => ({ appendBatch: async () => 'stored' }),
  },
  'forgets idempotency keys': {
    store: (store) => ({
      appendBatch: ({ idempotency: _forgotten, ...batch }) => store.appendBatch(batch),
    }),
  },
  'accepts a revoked key': { front: cachingFront },
  'lets a used code work again': {
    store: (store) =>
      withTx(store, (tx) =>
        binding(tx, (code) => (code.state === 'used' ? { ...code, state: 'pending' } : code)),
      ),
  },
  'binds two devices to one screen': {
    store(store) {
      const pushedAside = new Set<string>();
      const shown = (row: Device): Device =>
        pushedAside.has(row.id) ? { ...row, state: 'bound', suspendedAt: null } : row;
      const list: Store['list'] = async (table, query) => {
        const { state: _asked, ...where } = (query.where ?? {}) as { state?: unknown };
        const all = await store.list(table, table === 'devices' ? { ...query, where } : query);
        return table === 'devices'
          ? { ...all, items: (all.items as Device[]).map(shown) as typeof all.items }
          : all;
      };
      const again = (code: PairingCode): PairingCode =>
        code.state === 'cancelled' ? { ...code, state: 'pending' } : code;
      return { ...withTx(store, (tx) => binding(tx, again, pushedAside)), list };
    },
  },
  'accepts an expired code': {
    store: (store) =>
      withTx(store, (tx) =>
        binding(tx, (code) => ({ ...code, expiresAt: Math.max(code.expiresAt, tx.now + 1) })),
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
    front: answers('POST', eventsPath, async (answer) =>
      answer.status === 202
        ? rewritten(answer, { body: { received: (await peek(answer)).received + 1 } })
        : answer,
    ),
  },
  'takes 101 events': { front: generousFront },
  'takes 0 events': {
    front: (pass) => async (request) => {
      const isEmpty =
        isPath(request, 'POST', eventsPath) && (await request.clone().text()) === '[]';
      const answer = await pass(request);
      return isEmpty && answer.status === 400
        ? Response.json({ received: 0 }, { status: 202 })
        : answer;
    },
  },
  'puts another version into the header': {
    front: answers('GET', playlistPath, (answer) => {
      const version = answer.headers.get('x-playlist-version');
      return version === null
        ? answer
        : rewritten(answer, { headers: { 'X-Playlist-Version': String(Number(version) + 1) } });
    }),
  },
  'answers 403 for a foreign screen': {
    front: (pass) => async (request) => {
      const answer = await pass(request);
      const isForeign =
        answer.status === 401 && (await peek(answer))?.code === 'device_key_mismatch';
      return isForeign
        ? rewritten(answer, await problem(answer, 'device_key_mismatch', 403))
        : answer;
    },
  },
  'answers 403 for another tenant’s record': { front: tellingFront },
  'answers 404 when no config is stored': {
    front: answers('GET', configPath, async (answer) =>
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
    front: answers('GET', configPath, (answer) => without(answer, 'x-config-source')),
  },
  'makes keys without their prefix': { front: barePrefixFront },
  'leaves WWW-Authenticate out': {
    front: (pass) => async (request) => without(await pass(request), 'www-authenticate'),
  },
  'names no path in what is invalid': {
    front: (pass) => async (request) => withoutPaths(await pass(request)),
  },
  'accepts a name twice': { front: renamingFront },
} satisfies Record<string, Bug>;

export type BugName = keyof typeof bugs;
export const bugNames = Object.keys(bugs) as BugName[];
export const bugOf = (name: BugName): Bug => bugs[name];

const running = new Set<{ close(): Promise<void> }>();
afterEachFile(() => Promise.all([...running].map((service) => service.close())));

/**
 * A service on a free port, in memory, with this bug; the same without any when none is given.
 * Closed after the tests of the file.
 *
 * @example const { url, adminToken } = await servePlanted('counts received off by one');
 */
export async function servePlanted(
  which: BugName | Bug = {},
  { clock = systemClock }: { clock?: Clock } = {},
) {
  const bug: Bug = typeof which === 'string' ? bugs[which] : which;
  const store = await openStore('memory:', { clock });
  const service = await mounted({ store: overriding(store, bug.store?.(store) ?? {}), clock });
  const front = bug.front?.(async (request) => service.fetch(request), store);
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    fetch: front ?? service.fetch,
    onError: () => {},
  });
  const planted = {
    url: listener.url,
    adminToken,
    async close() {
      running.delete(planted);
      await listener.close();
      await store.close();
    },
  };
  running.add(planted);
  return planted;
}
