import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { checkout } from '../../support/process/signage-process.ts';
import { adminToken, startService } from '../../support/service/service.ts';
import { startMcp } from './mcp-client.ts';

async function start() {
  const service = await startService<Clock>({ clock: systemClock });
  const venue = await service.venue({ name: 'Lobby', timezone: 'Europe/Berlin' });
  const screen = await service.screen({ venueId: venue.id, name: 'Window' });
  await service.tv(screen.id);
  return { service, screen };
}

it('offers only tools that read, by default', async () => {
  const { service } = await start();
  const { client } = await startMcp(service, adminToken);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('status');
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
});

it('describes all tools in less than 6,000 tokens', async () => {
  const { service } = await start();
  const { client } = await startMcp(service, adminToken, { args: ['--allow-changes'] });
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(17);
  expect(JSON.stringify(tools).length / 4).toBeLessThan(6000);
});

it.each([['2024-11-05'], ['2024-10-07'], ['2025-03-26'], ['2025-06-18'], ['2025-11-25']])(
  'serves clients of %s',
  async (version) => {
    const { service } = await start();
    const { client, call } = await startMcp(service, adminToken, { versions: [version] });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect((await call('status')).text).toContain('Lobby/Window');
  },
);

it('serves clients of 2026-07-28', async () => {
  const { service } = await start();
  const { call } = await startMcp(service, adminToken, { pin: '2026-07-28' });
  expect((await call('status')).text).toContain('Lobby/Window');
});

it('uses a viewer of its own instead of a platform token, and deletes it at the end', async () => {
  const { service } = await start();
  const tokens = async () => (await service.manage('GET', '/v1/tokens')).body.items;
  const { call, close } = await startMcp(service, adminToken);
  await call('status');
  expect(await tokens()).toContainEqual(
    expect.objectContaining({ name: expect.stringMatching(/^signage mcp /), role: 'viewer' }),
  );
  await close();
  await expect.poll(async () => (await tokens()).length).toBe(1);
});

it.each([
  ['find', { what: 'screens', name: 'Windwo' }, /Did you mean \\"Window\\"/],
  ['explain', { screen: 'Lobby/Windw' }, /Did you mean \\"Lobby\/Window\\"/],
  ['find', { what: 'rooms' }, /expected one of \\?"screens/],
  ['status', { vneue: 'Lobby' }, /vneue/],
  ['status', { venue: 'Lobyb' }, /Did you mean \\"Lobby\\"/],
  ['events', { since: 'yesterdayy' }, /must be a time such as/],
  ['events', { type: 'impresion' }, /impression/],
])('answers a mistake in %s %j with what was meant', async (tool, args, message) => {
  const { service } = await start();
  const { call } = await startMcp(service, adminToken);
  const { isError, text } = await call(tool, args);
  expect(text).toMatch(message);
  expect(isError).toBe(true);
});

it('outlives a service that is down, and says to try again', async () => {
  const { call } = await startMcp({ url: 'http://127.0.0.1:1' }, adminToken);
  for (const _ of [1, 2])
    expect(await call('status')).toMatchObject({
      isError: true,
      json: { code: 'unreachable', tryAgain: true },
    });
});

it('outlives a dead token', async () => {
  const { service } = await start();
  const { call } = await startMcp(service, `mak_${'x'.repeat(40)}`);
  expect(await call('status')).toMatchObject({
    isError: true,
    json: { code: 'credential_invalid', tryAgain: false },
  });
});

it('escapes control characters in names', async () => {
  const { service, screen } = await start();
  await service.manage('PATCH', `/v1/screens/${screen.id}`, { name: 'Win\u202edow' });
  const { call } = await startMcp(service, adminToken);
  const { text, json } = await call('status');
  expect(text + JSON.stringify(json)).not.toContain('\u202e');
});

/** Runs `signage mcp` with this input, and returns what it has written when it has ended. */
async function runRaw(args: readonly string[], input: string, signal?: NodeJS.Signals) {
  const child = spawn(process.execPath, [`${checkout}/bin/signage.js`, 'mcp', ...args], {
    env: { PATH: process.env.PATH, SIGNAGE_URL: 'http://127.0.0.1:1', SIGNAGE_TOKEN: adminToken },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (signal) child.kill(signal);
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.write(input);
  if (!signal) child.stdin.end();
  const [code] = await once(child, 'close');
  return { code, err, lines: out.split('\n').filter(Boolean) };
}

const initialize = `${JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'raw', version: '1' },
  },
})}\n`;

it.each<[string, string[], string, NodeJS.Signals | undefined, number]>([
  ['an unknown tool', ['--tools', 'shwo'], '', undefined, 2],
  ['an unknown option', ['--foo'], '', undefined, 2],
  ['--allow-unattended alone', ['--allow-unattended'], '', undefined, 2],
  ['develop with --venue', ['--toolset', 'develop', '--venue', 'Lobby'], '', undefined, 2],
  ['develop with --allow-changes', ['--toolset', 'develop', '--allow-changes'], '', undefined, 2],
  ['an unknown context', ['--context', 'nowhere'], initialize, undefined, 0],
  ['input that is no message', [], 'hello\n{"jsonrpc":1}\n\u0000\n', undefined, 0],
  ['an input that ends', [], initialize, undefined, 0],
  ['SIGTERM', [], initialize, 'SIGTERM', 0],
])('writes only protocol messages to stdout: %s', async (_, args, input, signal, code) => {
  const run = await runRaw(args, input, signal);
  expect(run.code, run.err).toBe(code);
  for (const line of run.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  if (code !== 0) expect(run.lines).toEqual([]);
});

it.each([
  ['claude', 'mcpServers'],
  ['vscode', 'servers'],
  ['cursor', 'mcpServers'],
])(
  '--print %s writes an entry that starts this program with the same options',
  async (client, member) => {
    const { url } = (await start()).service;
    const args = ['--print', client, '--tools', 'find,status', '--url', url];
    const { lines } = await runRaw(args, '');
    const { command, args: printed } = JSON.parse(lines.join('\n'))[member].signage;
    expect([command, ...printed]).toEqual([
      ...[process.execPath, `${checkout}bin/signage.js`, 'mcp'],
      ...['--tools', 'find,status', '--url', url],
    ]);
  },
);
