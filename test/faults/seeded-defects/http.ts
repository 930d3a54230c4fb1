import { connect, createServer } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { startLocally } from '../../support/network/local-server.ts';
import type { Handler } from '../../support/stores/seeded-defects.ts';
import { type Around, fronted, runAttacks, slowClients } from '../http/attack.ts';
import { modelOverload, type OverloadParts, varied } from '../http/overload.ts';
import { bodyAttacks, framingAttacks } from '../http/raw-attacks.ts';
import { seeded } from './seeded-defect.ts';

/** Forwards connections with rewritten bytes. */
async function rewriting(url: string, rewrite: (bytes: Buffer) => Buffer) {
  const { hostname, port } = new URL(url);
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    near.on('data', (bytes) => void far.write(rewrite(bytes))).on('close', () => far.destroy());
    far.pipe(near);
  });
  return startLocally(server);
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

const attacked =
  (name: RegExp) =>
  (around: Around = {}) =>
    fronted(around, async (url, aim) => {
      const all = [...framingAttacks(aim), ...bodyAttacks(aim)];
      return runAttacks(
        url,
        aim,
        all.filter((one) => name.test(one.name)),
      );
    });

const timed = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 };

export const http = [
  seeded('framing-attacks', attacked(/Host/), {
    'a second Host accepted': { network: (url) => rewriting(url, firstHost) },
  }),
  seeded('body-attacks', attacked(/venues: gzip$/), {
    'a compressed body taken as JSON': { middleware: gunzipping },
  }),
  seeded(
    'slow-clients',
    (limits: Around['limits'] = timed) =>
      fronted({ limits }, (url, aim) => slowClients(url, aim, 600)),
    { 'slow requests are never timed out': { headersTimeout: 0, requestTimeout: 0 } },
  ),
  seeded(
    'overload',
    (parts?: Partial<OverloadParts>) => modelOverload({ random: varied(), ...parts }),
    {
      'nobody is turned away': { wrapShed: () => ({ admit: () => true }) },
      'fixed Retry-After': { random: () => new Uint8Array(1) },
    },
  ),
];
