import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { item } from '../../support/content.ts';
import { type FakeIo, fakeIo } from '../../support/fake-io.ts';
import { adminToken } from '../../support/service.ts';
import { json, type StubService, stubService } from '../../support/stub-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { cliOf, runCli } from '../run-cli.ts';

let source: StubService;
let ended: (() => Promise<unknown>)[];
beforeEach(async () => {
  source = await stubService(json(200, { items: [item()] }));
  ended = [source.close];
});
afterEach(async () => {
  for (const end of ended.toReversed()) await end();
});

/** Runs `signage serve` with these options. Returns its URL and its output. */
async function serve(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<{ url: string; io: FakeIo }> {
  const io = fakeIo({
    env: { SIGNAGE_ADMIN_TOKEN: adminToken, XDG_CONFIG_HOME: await temporaryFolder(), ...env },
    isTTY: false,
  });
  const code = main(['serve', '--port', '0', '--store', 'memory', ...argv], io);
  ended.push(() => {
    io.signal('SIGTERM');
    return code;
  });
  const url = await Promise.race([
    io.until(/https?:\/\/127\.0\.0\.1:\d+/),
    code.then(() => Promise.reject(new Error(io.err()))),
  ]);
  await io.until(/Try: /);
  return { url, io };
}

/** Pairs a TV, and returns the playlist that it gets. */
async function play(url: string): Promise<{ source: string | null; screenId: string }> {
  const send = async (method: string, path: string, key: string | undefined, body?: unknown) => {
    const headers = {
      'content-type': 'application/json',
      ...(key && { authorization: `Bearer ${key}` }),
    };
    return fetch(`${url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
  };
  const made = async (path: string, body: unknown) =>
    (await send('POST', path, adminToken, body)).json() as Promise<Record<string, string>>;
  const { id: venueId } = await made('/v1/venues', { name: crypto.randomUUID() });
  const { id: screenId = '' } = await made('/v1/screens', { venueId, name: 'Main' });
  const { code } = await made('/v1/devices/provisioning-codes', { screenId });
  const { apiKey } = (await (
    await send('POST', '/devices/register', undefined, { pairingCode: code, deviceInfo: {} })
  ).json()) as {
    apiKey: string;
  };
  const answer = await send('GET', `/devices/${screenId}/playlist`, apiKey);
  return { source: answer.headers.get('x-source'), screenId };
}

describe('signage serve --on-demand-url', () => {
  it('requests playlists from the URL, with the token of a file', async () => {
    const file = join(await temporaryFolder(), 'token');
    await writeFile(file, 'from-a-file\n');
    const { url, io } = await serve([
      '--on-demand-url',
      `${source.url}/{screenId}`,
      '--on-demand-token-file',
      file,
    ]);
    const { source: from, screenId } = await play(url);
    expect(from).toBe('on-demand');
    expect(source.heard).toMatchObject([
      { url: `/${screenId}`, headers: { authorization: 'Bearer from-a-file' } },
    ]);
    expect(io.out() + io.err()).not.toContain('from-a-file');
  });

  it('takes URL and token from the environment, but prefers a token file', async () => {
    const env = {
      SIGNAGE_ON_DEMAND_URL: `${source.url}/all`,
      SIGNAGE_ON_DEMAND_TOKEN: 'from-the-environment',
    };
    await play((await serve([], env)).url);
    const file = join(await temporaryFolder(), 'token');
    await writeFile(file, 'from-a-file');
    await play((await serve(['--on-demand-token-file', file], env)).url);
    expect(source.heard.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer from-the-environment',
      'Bearer from-a-file',
    ]);
  });

  it('works without a token', async () => {
    await play((await serve(['--on-demand-url', source.url])).url);
    expect(source.heard[0]?.headers).not.toHaveProperty('authorization');
  });

  it('warns when the token would cross the network unencrypted', async () => {
    const env = { SIGNAGE_ON_DEMAND_TOKEN: 'anything' };
    const remote = await serve(['--on-demand-url', 'http://ads.example/{screenId}'], env);
    expect(remote.io.err()).toContain('in clear');
    const local = await serve(['--on-demand-url', source.url], env);
    expect(local.io.err()).not.toContain('in clear');
  });

  it.each([
    [
      'an unknown placeholder',
      ['--on-demand-url', 'https://ads.example/{screen}'],
      /unknown placeholder \{screen\}: the placeholders are \{screenId\}/,
    ],
    [
      'a password in the URL',
      ['--on-demand-url', 'https://tom:secretword@ads.example/'],
      /must not hold a user name or password/,
    ],
    ['a URL other than http', ['--on-demand-url', 'file:///etc/passwd'], /http or https/],
    [
      'a token file without a URL',
      ['--on-demand-token-file', 'package.json'],
      /needs an on-demand URL/,
    ],
    [
      'a missing token file',
      ['--on-demand-url', 'https://ads.example/', '--on-demand-token-file', '/nowhere/token'],
      /No such file: \/nowhere\/token \(--on-demand-token-file\)\./,
    ],
    [
      'a TTL that is not a number',
      ['--on-demand-ttl-seconds', 'soon'],
      /whole number from 0 to 3600/,
    ],
    ['a timeout of 0', ['--on-demand-timeout-ms', '0'], /whole number from 100 to 10000/],
    ['a concurrency of 0', ['--on-demand-concurrency', '0'], /whole number from 1 to 1000/],
  ])('2 for %s', async (_, argv, message) => {
    const run = await runCli(['serve', '--port', '0', '--store', 'memory', ...argv], {
      env: { SIGNAGE_ADMIN_TOKEN: adminToken },
    });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(message);
    expect(run.stderr).not.toContain('secretword');
  });
});

describe('signage doctor', () => {
  it('0 with a warning that names the error of a failing on-demand source', async () => {
    source.answers = [json(503, {})];
    const { url } = await serve(['--on-demand-url', source.url]);
    await play(url);
    const rows = async () => {
      const run = await cliOf({ url }, adminToken)(['doctor', '-o', 'json']);
      expect(run.code).toBe(0);
      return Object.fromEntries(run.json.map((row: { check: string }) => [row.check, row]));
    };
    expect(await rows()).toMatchObject({
      'origin/on-demand': {
        status: 'warn',
        detail: expect.stringMatching(
          /^It fails since .*: origin_status_503 .*The service uses the next origin\.$/,
        ),
      },
      'origin/store': {
        status: 'ok',
        detail: expect.stringMatching(/^It answers within \d+ ms\.$/),
      },
    });
    for (let n = 0; n < 4; n++) await play(url);
    expect(await rows()).toMatchObject({
      'origin/on-demand': {
        status: 'warn',
        detail: expect.stringContaining('Its circuit breaker is open'),
      },
    });
  });
});
