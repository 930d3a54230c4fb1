// An agent that writes a TV app: a service with faults, its TV, and the exam.
import { expect, it } from 'vitest';
import { startMcp } from './mcp-client.ts';

const nowhere = { url: 'http://127.0.0.1:1' };
const start = (args: string[] = []) =>
  startMcp(nowhere, 'mak_none', { args: ['--toolset', 'develop', ...args] });

const deviceInfo = { manufacturer: 'Agent', model: 'First try' };

/**
 * A TV app as a first try: it registers as often as it must, fetches its playlist once, and then
 * shows it forever.
 */
async function firstTry(url: string, pairingCode: string): Promise<number> {
  const register = () =>
    fetch(`${url}/devices/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': pairingCode.repeat(2) },
      body: JSON.stringify({ pairingCode, deviceInfo }),
    }).catch(() => undefined);
  let registered = await register();
  while (registered?.status !== 201) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    registered = await register();
  }
  const { screenId, apiKey } = (await registered.json()) as Record<string, string>;
  const headers = { authorization: `Bearer ${apiKey}` };
  return (await fetch(`${url}/devices/${screenId}/playlist`, { headers })).status;
}

it('gets from nothing to the red rows of the exam in 6 calls', async () => {
  const { call } = await start();
  const service = await call('start_service', { faults: ['500:playlist:first 1'] });
  expect(service.json).toMatchObject({
    faults: ['500:playlist:first 1'],
    screen: expect.stringMatching(/^Aurora .*\//),
    screens: expect.arrayContaining([service.json.screen]),
  });
  expect(await firstTry(service.json.url, service.json.code)).toBe(500);
  const logs = await call('logs', { refused: true });
  expect(logs.json.records).toMatchObject([
    { operation: 'getPlaylist', status: 500, faults: ['500:playlist:first 1'] },
  ]);
  expect((await call('start_tv', { speed: 60 })).json).toEqual({ id: 'tv-1' });
  const exam = await call('start_exam', { speed: 60 });
  expect(exam.json).toMatchObject({ state: 'running' });
  await firstTry(exam.json.url, exam.json.code);
  const { json } = await call('state', { waitSeconds: 50 });
  expect(json.tvs).toMatchObject([{ id: 'tv-1', state: 'running' }]);
  expect(json.tvs[0].log.length).toBeGreaterThan(2);
  expect(json.exam).toMatchObject({ state: 'ended', isPassed: false });
  expect(json.exam.failed).toContainEqual({
    id: expect.any(String),
    level: 'must',
    section: expect.stringMatching(/^\d/),
    title: expect.any(String),
    expected: expect.any(String),
    seen: expect.any(String),
    advice: expect.any(String),
  });
  const { json: over } = await call('stop', { what: 'all' });
  expect(over).toMatchObject({ service: null, tvs: [] });
  await expect(fetch(service.json.url)).rejects.toThrow('fetch failed');
});

it('describes its tools in less than 6,000 tokens', async () => {
  const { client } = await start();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('show');
  expect(JSON.stringify(tools).length / 4).toBeLessThan(6000);
});

it.each([
  ['logs', {}, 'Call start_service first.'],
  ['start_tv', {}, 'Call start_service first.'],
  ['start_service', { faults: ['teapot'] }, ''],
  ['start_tv', { exam: true }, 'Call start_exam first.'],
])('answers %s %j with what to do', async (tool, args, next) => {
  const { call } = await start();
  expect(await call(tool, args)).toMatchObject({
    isError: true,
    json: { code: expect.any(String), next: expect.stringContaining(next) },
  });
});

it('shows why a TV has ended, and replaces faults of a service that runs', async () => {
  const { call } = await start();
  const [{ json }, same] = await Promise.all([call('start_service'), call('start_service')]);
  expect(same.json.url).toBe(json.url);
  const faults = ['404:register:pairing_code_not_found'];
  const again = await call('start_service', { faults, screen: json.screen });
  expect(again.json).toMatchObject({ url: json.url, faults });
  await call('start_tv');
  const { json: state } = await call('state', { waitSeconds: 20 });
  expect(state.tvs).toMatchObject([
    { state: 'failed', problem: { code: 'pairing_code_not_found', next: expect.any(String) } },
  ]);
});

it('ends everything with its client', async () => {
  const { call, close } = await start();
  const { json } = await call('start_service');
  await call('start_tv', {});
  const exam = await call('start_exam', {});
  expect(await call('start_exam', {})).toMatchObject({
    isError: true,
    json: { next: 'Call stop with exam first.' },
  });
  expect((await call('start_tv', { exam: true })).json).toEqual({ id: 'tv-2' });
  await close();
  for (const { url } of [json, exam.json]) await expect(fetch(url)).rejects.toThrow('fetch failed');
});
