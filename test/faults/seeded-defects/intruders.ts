// Defects of authorization, and undocumented answers.
import type { MakeRequester } from '../../../src/client/requester.ts';
import type { DeviceKey } from '../../../src/domain/records/rows.ts';
import { openListener } from '../../../src/http/listener/listener.ts';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { serve } from '../../../src/serve.ts';
import { openStore } from '../../../src/store/location/open.ts';
import { type Assembled, assembled } from '../../support/process/assembled.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { DriftingClock } from '../../support/runtime/drifting-clock.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { adminToken, sendTo } from '../../support/service/service.ts';
import { withTx } from '../../support/stores/defective-store.ts';
import {
  type Defect,
  defectOf,
  type Handler,
  serveWithDefect,
} from '../../support/stores/seeded-defects.ts';
import { runFuzz } from '../fuzz/run-fuzz.ts';
import { runAssignments } from '../matrix/run-assignments.ts';
import { runMatrix } from '../matrix/run-matrix.ts';
import { searchSecrets } from '../secrets/checker.ts';
import { sentElsewhere } from '../secrets/sent-elsewhere.ts';
import { obeyedOutput } from './obeyed-output.ts';
import { seeded } from './seeded-defect.ts';

/** Returns the answer with other members in its body, or another status. */
async function rewritten(
  answer: Response,
  members: object,
  status = answer.status,
): Promise<Response> {
  const body = { ...((await answer.json()) as object), ...members };
  return new Response(JSON.stringify(body), { status, headers: answer.headers });
}

const pathOf = (request: Request) => new URL(request.url).pathname;
const codeOf = async (answer: Response) =>
  ((await answer.clone().json()) as { code?: string }).code;

/** A revocation does not change the key. */
const revokeLeavesKey: Defect = {
  store: (store) =>
    withTx(store, (tx) => ({
      put: (table, row) =>
        table === 'deviceKeys' && (row as DeviceKey).state === 'revoked'
          ? Promise.resolve()
          : tx.put(table, row),
    })),
};

/** Successful reads are cached for five seconds by key. */
const keyCached = (clock: ManualClock): Defect => ({
  middleware: (next) => {
    const known = new Map<string, { answer: Response; until: number }>();
    return async (request) => {
      const place = `${request.method} ${request.url} ${request.headers.get('authorization')}`;
      const cached = known.get(place);
      if (cached && clock.now() < cached.until) return cached.answer.clone();
      const answer = await next(request);
      if (request.method === 'GET' && answer.ok && pathOf(request).startsWith('/devices/'))
        known.set(place, { answer: answer.clone(), until: clock.now() + 5000 });
      return answer;
    };
  },
});

/** Any role may revoke. */
const noRoleCheck: Defect = {
  middleware: (next) => async (request) => {
    const [again, tenant] = [request.clone(), request.headers.get('x-tenant-id')];
    const answer = await next(request);
    if (answer.status !== 403 || !pathOf(request).endsWith('/revoke')) return answer;
    const headers = new Headers(again.headers);
    headers.set('authorization', `Bearer ${adminToken}`);
    const own = tenant ?? (await ownTenant(next, again));
    if (own !== undefined) headers.set('x-tenant-id', own);
    return next(
      new Request(again.url, { method: again.method, headers, body: await again.text() }),
    );
  },
};

async function ownTenant(next: Handler, request: Request): Promise<string | undefined> {
  const headers = { authorization: request.headers.get('authorization') ?? '' };
  const me = await next(new Request(new URL('/v1/me', request.url), { headers }));
  return ((await me.json()) as { tenantId?: string }).tenantId;
}

/** The body of a registration is assigned to the device row. */
const assigned: Defect = {
  middleware(next) {
    return async (request) => {
      if (pathOf(request) === '/devices/register') body = JSON.parse(await request.clone().text());
      return next(request);
    };
  },
  store: (store) =>
    withTx(store, (tx) => ({
      put: (table, row) =>
        tx.put(table, table === 'devices' ? Object.assign({ ...row }, body) : row),
    })),
};
let body: object = {};

const undocumented: Defect = {
  middleware: (next) => async (request) => {
    const answer = await next(request);
    const isGone = answer.status === 404 && (await codeOf(answer)) === 'screen_not_found';
    return isGone ? rewritten(answer, { status: 410 }, 410) : answer;
  },
};

const undocumentedHeader: Defect = {
  middleware: (next) => async (request) => {
    const answer = await next(request);
    if (answer.ok) answer.headers.set('x-served-by', 'node-1');
    return answer;
  },
};

const stackShown: Defect = {
  middleware: (next) => async (request) => {
    const answer = await next(request);
    return answer.status === 400
      ? rewritten(answer, { detail: new Error('the body').stack })
      : answer;
  },
};

/** Logs the credential of each request. */
async function serveTelling(options: ServeOptions = {}) {
  const service = await serve(options);
  const fetch: Handler = (request) => {
    options.log?.debug({ authorization: request.headers.get('authorization') }, 'request');
    return service.fetch(request, { remoteAddress: '127.0.0.1' });
  };
  const listener = await openListener({ host: '127.0.0.1', port: 0, fetch, onError: () => {} });
  const close = () => listener.close().then(() => service.close());
  return { ...service, url: listener.url, close };
}

/** Follows redirects with all headers. */
const following =
  (make: MakeRequester): MakeRequester =>
  async (certificates) => {
    const send = await make(certificates);
    return async (url, parts) => {
      const answer = await send(url, parts);
      const { location } = answer.headers;
      return typeof location === 'string' ? send(location, parts) : answer;
    };
  };

/** Undoes the escaping of output. */
function unescaping(io: FakeIo): FakeIo {
  const plain = (text: string) =>
    text.replaceAll(/\\+u([0-9a-f]{4})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  const around = (stream: FakeIo['stdout']) => ({
    ...stream,
    write: (text: string) => stream.write(plain(text)),
  });
  return { ...io, stdout: around(io.stdout), stderr: around(io.stderr) };
}

/** `members` change a member of a body. */
const withBody =
  (change: (body: string) => string): Defect['middleware'] =>
  (next) =>
  async (request) => {
    const body = change(await request.clone().text());
    const { method, url, headers } = request;
    const isBare = method === 'GET' || method === 'HEAD';
    return next(isBare ? request : new Request(url, { method, headers, body: Buffer.from(body) }));
  };

/** Turns `__proto__` into members of the object, like a careless copy. */
const assigning = withBody((text) => {
  if (!text.startsWith('{')) return text;
  const json: object = JSON.parse(text);
  const { value } = Object.getOwnPropertyDescriptor(json, '__proto__') ?? {};
  return JSON.stringify({ ...json, ...value });
});

/** Keeps the first of duplicate members, like another parser on the way. */
const firstMember = withBody((text) => text.replace(/^\{("\w+":)(.*),\1"[^"]*"/, '{$1$2'));

async function searched(start = serve): Promise<readonly string[]> {
  const search = { store: 'memory:', contents: async () => [], misplaced: 1, start };
  return (await searchSecrets(search)).found;
}

type MakeDefect = (clock: ManualClock) => Defect;

/** Runs a test on a service in memory. */
const inMemory =
  (run: (service: Assembled) => Promise<{ wrong: string[] }>) =>
  async (makeDefect: MakeDefect = () => ({})): Promise<string[]> => {
    const clock = new ManualClock();
    const store = await openStore('memory:', { clock });
    try {
      return (await run(await assembled(store, clock, makeDefect(clock)))).wrong;
    } finally {
      await store.close();
    }
  };

const byMatrix = (operation: string, defects: Record<string, MakeDefect>) =>
  seeded(
    'run-matrix',
    inMemory((service) => runMatrix(service, { only: [operation] })),
    defects,
  );

const byAssignments = (operation: string, defects: Record<string, MakeDefect>) =>
  seeded(
    'run-assignments',
    inMemory((service) => runAssignments(service, [operation])),
    defects,
  );

const byFuzz = (operation: string, requests: number, defects: Record<string, Defect>) =>
  seeded(
    'run-fuzz',
    async (defect: Defect = {}) => {
      const clock = new DriftingClock();
      const { url, close } = await serveWithDefect(defect, { clock });
      const send: Assembled['send'] = (method, path, sent = {}) => sendTo(url, method, path, sent);
      const subject = { service: { url, send }, clock, adminToken };
      const { wrong } = await runFuzz({ ...subject, seed: 7, requests, only: [operation] });
      await close();
      return wrong;
    },
    defects,
  );

export const intruders = [
  byMatrix('getDeviceConfig', {
    'a revocation leaves the key': () => revokeLeavesKey,
    'a key is cached for five seconds': keyCached,
  }),
  byMatrix('getVenue', {
    'a foreign record is 403': () => defectOf('answers 403 for another tenant’s record'),
  }),
  byMatrix('revokeDevice', { 'one operation does not check the role': () => noRoleCheck }),
  byAssignments('registerDevice', { 'a body is assigned to the row': () => assigned }),
  byAssignments('createVenue', {
    'Object.assign of a body': () => ({ middleware: assigning }),
    'of two members with one name the first counts': () => ({ middleware: firstMember }),
  }),
  byFuzz('postEvents', 120, {
    'received is off by one': defectOf('counts received off by one'),
    '101 events are taken': defectOf('takes 101 events'),
  }),
  byFuzz('getScreen', 50, {
    'a status that is not documented': undocumented,
    'a header that is not documented': undocumentedHeader,
  }),
  byFuzz('createVenue', 30, { 'a stack trace in an error': stackShown }),
  seeded('search-secrets', searched, { 'a token in a log': serveTelling }),
  seeded('sent-elsewhere', sentElsewhere, { 'a redirect is followed': following }),
  seeded('obeyed-output', obeyedOutput, { 'control bytes are printed': unescaping }),
];
