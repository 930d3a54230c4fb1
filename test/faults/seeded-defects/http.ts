import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { Handler } from '../../support/seeded-defects.ts';
import { bodyAttacks } from '../http/body-attacks.ts';
import { framingAttacks } from '../http/framing-attacks.ts';
import { type Around, fronted } from '../http/fronted.ts';
import { memberAttacks } from '../http/member-attacks.ts';
import { modelOverload, varied } from '../http/overload.ts';
import { runAttacks } from '../http/run-attacks.ts';
import { slowClients } from '../http/slow-clients.ts';
import type { SeededDefect } from './seeded-defect.ts';

/** Forwards connections with rewritten bytes. */
async function rewriting(
  url: string,
  rewrite: (bytes: Buffer) => Buffer,
): Promise<{ url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) open.add(socket.on('error', () => socket.destroy()));
    near.on('data', (bytes) => void far.write(rewrite(bytes))).on('close', () => far.destroy());
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Removes all but the first Host header, like a lenient proxy. */
const firstHost = (bytes: Buffer) => {
  const [first, ...rest] = bytes.toString('latin1').split(/(?<=\r\n)(?=host:)/i);
  const [head = '', ...others] = rest;
  return Buffer.from(
    [first, head, ...others.map((part) => part.replace(/^host:[^\r]*\r\n/i, ''))].join(''),
    'latin1',
  );
};

/** Replaces the body of requests. */
const withBody =
  (make: (request: Request, body: Buffer) => { body: Buffer; without?: string }) =>
  (next: Handler): Handler =>
  async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next(request);
    const { body, without } = make(request, Buffer.from(await request.arrayBuffer()));
    const headers = new Headers(request.headers);
    headers.delete('content-length');
    if (without) headers.delete(without);
    return next(new Request(request.url, { method: request.method, headers, body }));
  };

const gunzipping = withBody((request, body) => {
  if (request.headers.get('content-encoding') !== 'gzip' || body.length > 1_000) return { body };
  return { body: gunzipSync(body), without: 'content-encoding' };
});

/** Turns `__proto__` into members of the object, like a careless copy. */
const assigning = withBody((_request, body) => {
  try {
    const json = JSON.parse(body.toString());
    return {
      body: Buffer.from(
        JSON.stringify(
          Array.isArray(json)
            ? json
            : { ...json, ...Object.getOwnPropertyDescriptor(json, '__proto__')?.value },
        ),
      ),
    };
  } catch {
    return { body };
  }
});

/** Keeps the first of duplicate members, like another parser on the way. */
const firstMember = withBody((_request, body) => {
  const text = body.toString();
  return {
    body: text.includes('"First"') ? Buffer.from(text.replace(',"name":"Last"', '')) : body,
  };
});

const attacked = (around: Around, name: RegExp) => () =>
  fronted(around, async (url, aim) => {
    const all = [...framingAttacks(aim), ...bodyAttacks(aim)];
    return runAttacks(
      url,
      aim,
      all.filter((one) => name.test(one.name)),
    );
  });
const members = (around: Around) => () => fronted(around, memberAttacks);
const timed = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 };
const untimed = { headersTimeout: 0, requestTimeout: 0 };
const slow = (limits: Around['limits']) => () =>
  fronted({ limits }, (url, aim) => slowClients(url, aim, 600));

export const http: readonly SeededDefect[] = [
  {
    defect: 'a second Host accepted',
    harness: 'framing-attacks',
    find: attacked({ network: (url) => rewriting(url, firstHost) }, /Host/),
    findInOriginal: attacked({ network: (url) => rewriting(url, (bytes) => bytes) }, /Host/),
  },
  {
    defect: 'a compressed body taken as JSON',
    harness: 'body-attacks',
    find: attacked({ middleware: gunzipping }, /venues: gzip$/),
    findInOriginal: attacked(
      { middleware: withBody((_request, body) => ({ body })) },
      /venues: gzip$/,
    ),
  },
  {
    defect: 'Object.assign of a body',
    harness: 'member-attacks',
    find: members({ middleware: assigning }),
    findInOriginal: members({}),
  },
  {
    defect: 'of two members with one name the first counts',
    harness: 'member-attacks',
    find: members({ middleware: firstMember }),
    findInOriginal: members({}),
  },
  {
    defect: 'slow requests are never timed out',
    harness: 'slow-clients',
    find: slow(untimed),
    findInOriginal: slow(timed),
  },
  {
    defect: 'nobody is turned away',
    harness: 'overload',
    find: () => modelOverload({ random: varied(), wrapShed: () => ({ admit: () => true }) }),
    findInOriginal: () => modelOverload({ random: varied() }),
  },
  {
    defect: 'fixed Retry-After',
    harness: 'overload',
    find: () => modelOverload({ random: () => new Uint8Array(1) }),
    findInOriginal: () => modelOverload({ random: varied() }),
  },
];
