// A server that answers 1xx without end: each client of ours gives up.
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startProxy } from '../../src/cli/commands/record/proxy.ts';
import { makeSender } from '../../src/cli/examination/send.ts';
import { makeNodeRequester, nodeRequesterThrough } from '../../src/client/node-requester.ts';
import { makeUndiciRequester } from '../../src/client/undici-requester.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { makeCallableAddresses } from '../../src/network/callable-address.ts';
import { makeWebhookSender } from '../../src/network/webhook-sender.ts';
import { makeS3Client } from '../../src/origin/object-store/s3-client.ts';
import { onDemandHttp } from '../../src/origin/on-demand/http.ts';
import { makeFleetDependencies } from '../../src/simulator/fleet/dependencies.ts';
import { startLocally } from '../support/network/local-server.ts';
import { screenRow } from '../support/service/playlist-rows.ts';

const kinds = ['100 Continue', '102 Processing', '103 Early Hints'];

/** Starts a server that answers `count` times with a status, and then with 200 and `{}`. */
async function startInforming(status: string, count = Number.POSITIVE_INFINITY) {
  const one = `HTTP/1.1 ${status}\r\n\r\n`;
  const last = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
  const block = Buffer.from(one.repeat(64));
  let cut = 0;
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    const flood = () => {
      while (socket.writable && socket.write(block));
      if (socket.writable) socket.once('drain', flood);
    };
    socket.on('close', () => void cut++);
    socket.on('data', () => {
      if (Number.isFinite(count)) socket.write(one.repeat(count) + last);
      else flood();
    });
  });
  return { ...(await startLocally(server)), cut: () => cut };
}

const parts = () => ({
  method: 'GET',
  headers: {},
  body: null,
  signal: AbortSignal.timeout(20_000),
});
const clock = systemClock;

/** Each client, as a call that resolves to its error or to `undefined`. */
const clients: Record<string, (url: string) => Promise<unknown>> = {
  async webhooks(url) {
    const addresses = makeCallableAddresses(['127.0.0.1']);
    const sender = makeWebhookSender({ addresses, clock });
    const body = Buffer.from('{}');
    const { error } = await sender.send(new URL(url), { headers: {}, body, keepsText: true });
    return error ?? undefined;
  },
  async 'the command line'(url) {
    const requester = await makeNodeRequester(undefined);
    return requester(url, parts()).then(() => undefined, String);
  },
  async 'the command line, through a proxy'(url) {
    const proxy = { variable: 'HTTP_PROXY', url: new URL(url) };
    const requester = await nodeRequesterThrough(() => proxy)(undefined);
    return requester('http://service.example/', parts()).then(() => undefined, String);
  },
  async 'the clients of the package'(url) {
    return makeUndiciRequester(undefined)(url, parts()).then(() => undefined, String);
  },
  async 'simulated TVs'(url) {
    const options = { url, token: 'mak_x' } as Parameters<typeof makeFleetDependencies>[0];
    const { management, close } = makeFleetDependencies(options);
    const answer = management?.call('getMe', {});
    return answer?.then(() => undefined, String).finally(close);
  },
  async 'an on-demand source'(url) {
    const http = onDemandHttp({ url, connections: 1, connectTimeoutMs: 2000, clock });
    const answer = http.ask(screenRow(), AbortSignal.timeout(20_000));
    return answer.then(() => undefined, String).finally(() => http.close());
  },
  async 'an object store'(url) {
    const location = { name: 'The bucket', bucketUrl: `${url}/b/`, prefix: '', region: 'x' };
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const client = makeS3Client(location, credentials, clock);
    const signal = AbortSignal.timeout(20_000);
    return client
      .send({ method: 'GET', path: 'x', signal })
      .then(() => undefined, String)
      .finally(() => client.close());
  },
  async 'checks of media'(url) {
    let problem: unknown;
    const { send, stop } = makeSender({
      clock,
      timeoutMs: 20_000,
      requester: await nodeRequesterThrough(() => undefined, false)(undefined),
      interrupted: new AbortController().signal,
      report: (found) => {
        problem = found.detail;
      },
    });
    await send(new URL(url), {});
    stop();
    return problem;
  },
  async 'signage record'(url) {
    const recorder = await startProxy({
      target: url,
      host: '127.0.0.1',
      port: 0,
      clock,
      onExchange() {},
      onInvalid() {},
    });
    const { status } = await fetch(recorder.url);
    await recorder.close();
    return status === 502 ? 'Bad Gateway' : undefined;
  },
};

describe.each(Object.entries(clients))('%s', (name, call) => {
  it.each(kinds)('give up on a server that sends %s without end', async (status) => {
    const { url, cut } = await startInforming(status);
    const startedAt = performance.now();
    expect(await call(url)).toMatch(
      /informational answers \(1xx\)|INFORMATIONAL|bad response|closed the connection|Bad Gateway|it answered 10[023]/,
    );
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await expect.poll(cut).toBeGreaterThan(0);
  });

  // The first answer to CONNECT ends it.
  it.skipIf(name.includes('proxy'))('take a few early hints', async () => {
    const { url } = await startInforming('103 Early Hints', 3);
    expect(String(await call(url))).not.toMatch(/1xx|INFORMATIONAL|closed|bad/i);
  });
});

// HTTP allows it (RFC 9110 §15.2). undici closes the connection.
it.each(['webhooks', 'the command line', 'checks of media', 'signage record'])(
  '%s take a 100 Continue that nobody asked for',
  async (name) => {
    const { url } = await startInforming('100 Continue', 1);
    expect(await clients[name]?.(url)).toBeUndefined();
  },
);

it('is asked of each module that sends HTTP', async () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  const files = (await readdir(src, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const sends = [
    /import \{[^;}]*\brequest\b[^;}]*\} from '(?:node:https?|undici)'/,
    /\{[^;}]*\brequest\b[^;}]*\} = await import\('undici'\)/,
    /\bnodeHttp\([^)]*\)\.request\(/,
    /\bnew (?:Pool|Client)\(origin/,
  ];
  // The first answer to CONNECT ends it, whatever its status.
  const onlyConnects = 'client/proxy-tunnel.ts';
  const senders: string[] = [];
  for (const file of files) {
    const text = await readFile(`${src}${file}`, 'utf8');
    if (file === onlyConnects || !sends.some((form) => form.test(text))) continue;
    senders.push(file);
    expect(text, `${file} limits no informational answers`).toMatch(
      /limitInformational\(|countInformational\(/,
    );
  }
  expect(senders.length).toBeGreaterThanOrEqual(7);
});
