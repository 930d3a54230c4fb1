import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { type Running, serve } from '../../src/serve.ts';
import { fakeIo } from '../support/fake-io.ts';
import { json, problem, stubService } from '../support/stub-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'signage-simulate-'));
const tokenFile = join(folder, 'token');
let service: Running;

beforeAll(async () => {
  service = await serve({ port: 0, store: 'memory:' });
  writeFileSync(tokenFile, `${service.adminToken}\n`);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

async function simulate(argv: string[], env: Record<string, string> = {}, isTTY = false) {
  const io = fakeIo({ env, isTTY });
  const code = await main(['simulate', ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe('signage simulate', () => {
  it('prints a summary on stdout and ends with 0 when all went well', async () => {
    const { code, out, err } = await simulate(['--count', '3', '--url', service.url, '--token-file', tokenFile]);
    expect(out).toMatch(/TVs +3 of 3 registered\n/);
    expect(out).toMatch(/Events +90 sent, 90 acknowledged, 90 found again\nFailures +none\n$/);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('takes url and token from the environment, and prints JSON alone with -o json', async () => {
    const env = { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: service.adminToken! };
    const { code, out, err } = await simulate(['--count', '2', '--batches', '1', '--venue', 'Elsewhere', '-o', 'json'], env);
    expect(JSON.parse(out)).toMatchObject({ tvs: 2, registered: 2, eventsFound: 20, failures: [] });
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('shows its progress to a person, and wipes it away', async () => {
    const { out, err } = await simulate(['--count', '2', '--url', service.url, '--token-file', tokenFile], {}, true);
    expect(err).toMatch(/of 2 TVs registered/);
    expect(err.endsWith('\r\u001b[K')).toBe(true);
    expect(out).not.toContain('\u001b');
  });

  it('ends with 7 when the service cannot be reached, and says where it looked', async () => {
    const { code, out, err } = await simulate(['--url', 'http://127.0.0.1:1', '--token-file', tokenFile]);
    expect({ code, out }).toEqual({ code: 7, out: '' });
    expect(err).toContain('Cannot reach http://127.0.0.1:1');
    expect(err).toContain('--url');
  });

  it('ends with 4 when the token is not good, without showing it', async () => {
    const wrong = `mak_${'w'.repeat(49)}`;
    const { code, err } = await simulate(['--url', service.url], { SIGNAGE_TOKEN: wrong });
    expect(code).toBe(4);
    expect(err).not.toContain('www');
  });

  it('ends with 4 when there is no token, and says where it may come from', async () => {
    const { code, out, err } = await simulate(['--url', service.url]);
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain('SIGNAGE_TOKEN');
  });

  it('ends with 9 when something failed, and shows what, safely', async () => {
    const ids = { id: 'x', tenantId: 'x', venueId: 'x', screenId: 'x', createdAt: 'now', updatedAt: 'now' };
    const record = { ...ids, name: 'x', state: 'provisioning', status: 'active', labels: {}, items: [], nextCursor: null, version: 1 };
    const stub = await stubService((response, request) => {
      const fails = request.url.endsWith('/provisioning-codes');
      (fails ? problem(409, 'screen_already_bound', 'No\u001b[2J.') : json(201, record))(response, request);
    });
    const { code, out } = await simulate(['--count', '2', '--url', stub.url, '--token-file', tokenFile]);
    await stub.close();
    expect(code).toBe(9);
    expect(out).toContain('0 of 2 registered');
    expect(out).toContain('2 × screen_already_bound: No\\u001b[2J.');
  });

  it.each([
    [['--count', '0'], '--count must be a whole number from 1'],
    [['--count', 'many'], '--count must be a whole number from 1'],
    [['--concurrency', '0'], '--concurrency must be'],
    [['-o', 'yaml'], '--output must be one of text, json'],
    [['--token-file', '/nowhere/token'], 'The token file cannot be read'],
    [['--token-file', tokenFile, '--url', 'localhost:4100'], 'must be an http or https URL'],
  ])('%j is wrong usage', async (argv, message) => {
    const { code, out, err } = await simulate(argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  it('ends with 130 at SIGINT, and tells what it had done', async () => {
    const io = fakeIo();
    const code = main(['simulate', '--count', '500', '--concurrency', '1', '--url', service.url, '--token-file', tokenFile], io);
    setTimeout(() => io.signal('SIGINT'), 150);
    expect(await code).toBe(130);
    expect(io.out()).toMatch(/interrupted/);
    expect(io.out()).not.toContain('500 of 500');
  });
});
