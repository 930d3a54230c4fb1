// Services that break, lie or disappear, and clients that go: over plain pipes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { forward, giveBack } from '../../support/network/balancer.ts';
import { startLocally } from '../../support/network/local-server.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { startRawMcp } from './mcp-client.ts';

/** Breaks an answer. `false`: the service answers. */
type Break = (outgoing: ServerResponse, incoming: IncomingMessage) => unknown;

const isPublication = ({ method, url }: IncomingMessage) =>
  method === 'PUT' && url?.endsWith('/playlist') === true;

/** Starts a service behind a proxy whose `breaks` a test replaces, and `signage mcp`. */
async function start(args: string[] = ['--allow-changes', '--allow-unattended'], env = {}) {
  const service = await startService<Clock>({ clock: systemClock });
  const venue = await service.venue({ name: 'Lobby', timezone: 'Europe/Berlin' });
  const screen = await service.screen({ venueId: venue.id, name: 'Window' });
  const state: { breaks: Break | undefined } = { breaks: undefined };
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = await buffer(incoming);
    const isBroken = state.breaks ? await state.breaks(outgoing, incoming) : false;
    if (isBroken === false) await giveBack(await forward(incoming, body, service.url), outgoing);
  };
  const front = await startLocally(
    createServer((incoming, outgoing) => {
      handle(incoming, outgoing).catch(() => incoming.socket.destroy());
    }),
  );
  const mcp = await startRawMcp(front, adminToken, { args, env });
  const tokens = async () => (await service.manage('GET', '/v1/tokens')).body.items;
  const shown = () => service.manage('GET', `/v1/screens/${screen.id}/playlist`);
  return { service, state, mcp, tokens, shown };
}

let one: ReturnType<typeof start> | undefined;
/** Starts the server that all broken answers meet, one after another. */
const shared = () => {
  one ??= start();
  return one;
};

const json = { 'content-type': 'application/json' };
const answer =
  (status: number, body: string, headers: Record<string, string> = json): Break =>
  (outgoing) =>
    outgoing.writeHead(status, headers).end(body);

const endless: Break = (outgoing) => {
  outgoing.writeHead(200, json).write('{"items":[');
  const more = () => {
    while (!outgoing.destroyed && outgoing.write(' '.repeat(1 << 20)));
  };
  outgoing.on('drain', more);
  more();
  return true;
};
const cut: Break = (outgoing) => {
  outgoing.writeHead(200, { ...json, 'content-length': '100' }).write('{"items"');
  setTimeout(() => outgoing.socket?.destroy(), 10);
  return true;
};
const hangUp: Break = (outgoing) => outgoing.socket?.destroy();

const breaks: [string, Break][] = [
  ['a body without end', endless],
  ['malformed JSON', answer(200, '{"items":[{]')],
  ['JSON of another kind', answer(200, '{"items":5}')],
  ['null', answer(200, 'null')],
  ['an empty body', answer(200, '')],
  ['a page of HTML', answer(200, '<title>Log in</title>', { 'content-type': 'text/html' })],
  ['a redirect', answer(302, '', { location: 'http://127.0.0.1:1/elsewhere' })],
  ['a redirect to itself', answer(307, '', { location: '/v1/screens' })],
  ['an error of a proxy', answer(502, 'Bad gateway', { 'content-type': 'text/plain' })],
  ['500', answer(500, '{}')],
  ['401', answer(401, '{"code":"credential_invalid","detail":"No such token."}')],
  ['a body that is cut', cut],
  ['connections that are cut', hangUp],
];

const reading: [string, object][] = [
  ['find', { what: 'screens' }],
  ['status', {}],
  ['explain', { screen: 'Lobby/Window' }],
  ['week', { venue: 'Lobby' }],
  ['playlist', { screen: 'Lobby/Window' }],
  ['media', {}],
  ['notices', {}],
  ['events', {}],
  ['report', { what: 'impressions' }],
];
const show = { screen: 'Lobby/Window', html: '<!doctype html><title>A</title><h1>A</h1>' };

const withNextStep = {
  isError: true,
  json: {
    code: expect.any(String),
    message: expect.stringMatching(/\w/),
    next: expect.stringMatching(/\w/),
    tryAgain: expect.any(Boolean),
  },
};

describe.each(breaks)('a service that answers with %s', (_, broken) => {
  it('gets each tool an error with a next step, and the server goes on', async () => {
    const { mcp, state } = await shared();
    expect(await mcp.call('status')).toMatchObject({ isError: false });
    state.breaks = broken;
    const diagnosis = mcp.call('doctor');
    const answers = await Promise.all(
      [...reading, ['show', show] as const].map(
        async ([name, args]) => [name, await mcp.call(name, args)] as const,
      ),
    );
    for (const [name, result] of answers) expect(result, name).toMatchObject(withNextStep);
    expect(await diagnosis).toMatchObject({ json: expect.anything() });
    state.breaks = undefined;
    expect(await mcp.call('status')).toMatchObject({ isError: false });
    mcp.checkOutput();
  });

  it('to a change says that the change may have been made', async () => {
    const { mcp, state } = await shared();
    const plan = await mcp.call('show', show);
    expect(plan).toMatchObject({ isError: false });
    state.breaks = (outgoing, incoming) => {
      if (!isPublication(incoming)) return false;
      broken(outgoing, incoming);
      return true;
    };
    const late = await mcp.call('show', { ...show, confirm: plan?.json.confirm });
    state.breaks = undefined;
    expect(late).toMatchObject(withNextStep);
    if (!/^(?:credential|internal)_|^unavailable/.test(late?.json.code))
      expect(late?.json.message).toContain('may have been made');
    mcp.checkOutput();
  });
});

it('answers a change that was made, also when the wait for its TVs fails', async () => {
  const { mcp, state } = await start();
  const plan = await mcp.call('show', show);
  let isMade = false;
  state.breaks = (outgoing, incoming) => {
    if (isMade) hangUp(outgoing, incoming);
    const isLost = isMade;
    isMade ||= isPublication(incoming);
    return isLost;
  };
  const args = { ...show, confirm: plan?.json.confirm, waitFor: 'playing', waitSeconds: 1 };
  expect(await mcp.call('show', args)).toMatchObject({
    isError: false,
    json: { state: 'done', glass: { reached: false, problem: expect.stringMatching(/reach/) } },
  });
});

it('ends a call before a client would, and says so', async () => {
  // Time runs 50 times faster in the process.
  const hasty =
    'const one = globalThis.setTimeout; globalThis.setTimeout = (f, ms, ...a) => one(f, ms / 50, ...a);';
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hasty)}`;
  const { mcp, state } = await start([], { NODE_OPTIONS });
  // Each answer takes 20 s.
  state.breaks = () => new Promise((resolve) => setTimeout(() => resolve(false), 400));
  const answered = await mcp.call('status');
  expect(answered).toMatchObject({ ...withNextStep, json: { code: 'wait_timed_out' } });
});

it('makes a new token when its own was deleted', async () => {
  const { service, mcp, tokens } = await start();
  await mcp.call('status');
  const own = (await tokens()).find(({ name }: { name: string }) => name.startsWith('signage mcp'));
  await service.manage('DELETE', `/v1/tokens/${own.id}`);
  expect(await mcp.call('status')).toMatchObject({
    isError: true,
    json: { next: expect.stringContaining('again'), tryAgain: true },
  });
  expect(await mcp.call('status')).toMatchObject({ isError: false });
});

it('says that the token of its run stays when the service is gone at the end', async () => {
  const { mcp, service } = await start();
  await mcp.call('status');
  await service.close();
  mcp.child.stdin.end();
  expect(await mcp.ended).toBe(0);
  expect(mcp.written.err).toMatch(/was not deleted.*signage token delete/);
  mcp.checkOutput();
});

describe('at its end', () => {
  /** Confirms a change, and calls `act` while the service has its request. */
  async function changeWhile(act: (mcp: Awaited<ReturnType<typeof start>>['mcp']) => unknown) {
    const { mcp, state, ...rest } = await start();
    const plan = await mcp.call('show', show);
    state.breaks = async (_, incoming) => {
      if (!isPublication(incoming)) return false;
      act(mcp);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return false;
    };
    const late = mcp.call('show', { ...show, confirm: plan?.json.confirm });
    const exitCode = await mcp.ended;
    mcp.checkOutput();
    // Its own token is deleted.
    expect(await rest.tokens()).toHaveLength(1);
    return { exitCode, result: await late, ...rest };
  }

  it('SIGTERM during a change answers that it may have been made', async () => {
    const { exitCode, result } = await changeWhile((mcp) => mcp.child.kill('SIGTERM'));
    expect(exitCode).toBe(0);
    expect(result).toMatchObject({
      ...withNextStep,
      json: { code: 'interrupted', message: expect.stringContaining('may have been made') },
    });
  });

  it('a client that closes stdin during a change still gets its result', async () => {
    const { exitCode, result, shown } = await changeWhile((mcp) => mcp.child.stdin.end());
    expect(exitCode).toBe(0);
    expect(result).toMatchObject({ isError: false, json: { state: 'done' } });
    expect((await shown()).body).toMatchObject({ version: 1 });
  });

  it('a client that closes its ends during a change leaves a change that is made', async () => {
    const { exitCode, shown } = await changeWhile((mcp) => {
      mcp.child.stdout.destroy();
      mcp.child.stdin.end();
    });
    expect(exitCode).toBe(0);
    expect((await shown()).body).toMatchObject({ version: 1 });
  });
});

it('with several tenants, asks for --tenant, and works in this one only', async () => {
  const { service, mcp } = await start();
  const other = (await service.manage('POST', '/v1/tenants', { name: 'Other' })).body;
  expect(await mcp.call('status')).toMatchObject({
    isError: true,
    json: { code: 'tenant_required', next: expect.stringContaining('--tenant') },
  });
  const inOther = await startRawMcp(service, adminToken, { args: ['--tenant', 'Other'] });
  expect((await inOther.call('find', { what: 'venues' }))?.json).toMatchObject({ count: 0 });
  service.tenantId = other.id;
  await service.venue({ name: 'Elsewhere' });
  expect((await inOther.call('find', { what: 'venues' }))?.json.records).toMatchObject([
    { name: 'Elsewhere' },
  ]);
});

describe('a URL to show', () => {
  /**
   * Starts a server of media, and `signage mcp`. A check by `dns.promises` finds another machine
   * for `media.test`, and the connection then finds `address` (DNS rebinding).
   */
  async function withName(address: string) {
    const heard: unknown[] = [];
    const media = await startLocally(
      createServer((incoming, outgoing) => {
        heard.push(incoming.url);
        outgoing.end();
      }),
    );
    const dns = `
      import dns from 'node:dns';
      import { syncBuiltinESMExports } from 'node:module';
      const { lookup: real } = dns;
      dns.lookup = (host, options, done) => {
        if (host !== 'media.test') return real(host, options, done);
        const address = ${JSON.stringify(address)};
        const family = address.includes(':') ? 6 : 4;
        options.all ? done(null, [{ address, family }]) : done(null, address, family);
      };
      const { lookup } = dns.promises;
      dns.promises.lookup = async (host, options) =>
        host === 'media.test' ? [{ address: '192.0.2.1', family: 4 }] : lookup(host, options);
      syncBuiltinESMExports();`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(dns)}`;
    const { mcp } = await start(['--allow-changes'], { NODE_OPTIONS });
    return { mcp, heard, port: new URL(media.url).port };
  }

  it.each([
    ['http://127.0.0.1', ''],
    ['http://[::ffff:127.0.0.1]', ''],
    ['http://localhost', ''],
    ['http://0', ''],
    ['http://media.test', '127.0.0.1'],
    ['http://media.test', '::ffff:127.0.0.1'],
    ['http://media.test', '64:ff9b::7f00:1'],
    ['http://media.test', 'fe80::1%lo'],
  ])('is not asked on this machine: %s %s', async (url, address) => {
    const { mcp, heard, port } = await withName(address);
    const answered = await mcp.call('show', {
      screen: 'Lobby/Window',
      files: [`${url}:${port}/a.png`],
    });
    expect(answered?.text).toContain('are not asked from here');
    expect(heard).toEqual([]);
  });
});
