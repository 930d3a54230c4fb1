import { exec } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { adminToken } from '../../support/service/service.ts';
import { runCli } from '../run-cli.ts';
import { type Serving, serving, servingInMemory } from './serving.ts';

const folder = mkdtempSync(join(tmpdir(), 'signage-serve-'));
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inShell = promisify(exec);
const newFolder = () => join(folder, `data ${++count}`);
const tokenIn = (data: string) => readFileSync(join(data, 'admin-token'), 'utf8').trim();

async function statusOf(url: string, token: string): Promise<number> {
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
}
const me = (url: string, token: string) => statusOf(`${url}/v1/me`, token);

/** Runs the command that the service suggests. */
async function tryCommand({ io }: Serving): Promise<unknown> {
  const [, command = ''] = /Try: +(curl .*)/.exec(io.out()) ?? [];
  return JSON.parse((await inShell(`${command} --silent --max-time 5`)).stdout);
}

describe('signage serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'serves until %s, then ends with 0 and frees the port',
    async (signal) => {
      const { url, io, stop } = await servingInMemory();
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(await stop(signal)).toBe(0);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
      expect(io.signal('SIGTERM')).toBe(false);
    },
  );

  it('ends immediately at the second signal, with its exit code', async () => {
    const { io, code } = await servingInMemory();
    io.signal('SIGTERM');
    io.signal('SIGINT');
    expect(await code).toBe(130);
    await io.until(/Stopped\./);
  });
});

describe('the first start of signage serve', () => {
  it('shows the token on a terminal only once, with a command that works', async () => {
    const data = newFolder();
    const env = { SIGNAGE_NO_CONTEXT: 'true' };
    const first = await serving(['--data', data], { isTTY: true, env });
    const [token = ''] = /mak_[0-9A-Za-z]{49}/.exec(first.io.out()) ?? [];
    expect(await me(first.url, token)).toBe(200);
    expect(await tryCommand(first)).toMatchObject({ role: 'platform' });
    expect(first.io.err()).not.toContain('mak_');
    expect(existsSync(join(data, 'admin-token'))).toBe(false);
    await first.stop();
    const again = await serving(['--data', data], { isTTY: true, env });
    expect(again.io.out()).not.toContain('mak_');
    expect(await me(again.url, token)).toBe(200);
  });

  it('writes the token to a private file without a terminal, and names only the file', async () => {
    const data = newFolder();
    const started = await serving(['--data', data]);
    const { io, url } = started;
    const file = join(data, 'admin-token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await me(url, tokenIn(data))).toBe(200);
    expect(io.out() + io.err()).not.toContain('mak_');
    expect(io.err()).toContain(file);
    expect(io.out()).toContain(`Log in:  signage login --url ${url} --token-file '${file}'\n`);
    const login = await runCli(['login', '--url', url, '--token-file', file]);
    expect(login.stdout).toContain('platform');
    expect(await tryCommand(started)).toMatchObject({ role: 'platform' });
  });

  it('neither shows nor writes the token of SIGNAGE_ADMIN_TOKEN', async () => {
    const data = newFolder();
    const env = { SIGNAGE_ADMIN_TOKEN: adminToken };
    const { io, url } = await serving(['--data', data], { env, isTTY: true });
    expect(await me(url, adminToken)).toBe(200);
    expect(io.out() + io.err()).not.toContain('mak_');
    expect(existsSync(join(data, 'admin-token'))).toBe(false);
  });
});

describe('signage serve --new-admin-token', () => {
  it('shows a new token, when the start before says that none is known', async () => {
    const data = newFolder();
    const env = { SIGNAGE_NO_CONTEXT: 'true' };
    const terminal = { isTTY: true, env };
    await (await serving(['--data', data], terminal)).stop();
    const lost = await serving(['--data', data], terminal);
    expect(lost.io.out()).toContain('--new-admin-token');
    await lost.stop();
    const { io, url } = await serving(['--data', data, '--new-admin-token'], terminal);
    const [token = ''] = /mak_[0-9A-Za-z]{49}/.exec(io.out()) ?? [];
    expect(await me(url, token)).toBe(200);
    expect(io.out()).not.toContain('--new-admin-token');
    const argv = ['audit', 'list', '--action', 'token.create', '-o', 'json', '--url', url];
    const { json } = await runCli(argv, { env: { SIGNAGE_TOKEN: token } });
    expect(json).toMatchObject([{ actor: { kind: 'system' } }, { actor: { kind: 'system' } }]);
  });

  it('writes a new token to its file, but not over the file of another', async () => {
    const data = newFolder();
    await (await serving(['--data', data])).stop();
    const argv = ['serve', '--port', '0', '--data', data, '--new-admin-token'];
    const first = tokenIn(data);
    const { code, stderr } = await runCli(argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining('login --token-file')]);
    expect(tokenIn(data)).toBe(first);
    rmSync(join(data, 'admin-token'));
    const { url } = await serving(['--data', data, '--new-admin-token']);
    expect(tokenIn(data)).not.toBe(first);
    expect([await me(url, first), await me(url, tokenIn(data))]).toEqual([200, 200]);
  });

  it('2 with SIGNAGE_ADMIN_TOKEN', async () => {
    const argv = ['serve', '--port', '0', '--store', 'memory', '--new-admin-token'];
    const { code, stderr } = await runCli(argv, { env: { SIGNAGE_ADMIN_TOKEN: adminToken } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('leave out one of the two')]);
  });
});

describe('signage serve rejects', () => {
  async function refused(data: string, argv: string[] = []) {
    const port = argv.includes('--port') ? [] : ['--port', '0'];
    const { code, stdout, stderr } = await runCli(['serve', ...port, '--data', data, ...argv]);
    expect(stdout).toBe('');
    return { code, stderr };
  }

  /** Starts with a data folder, and checks that the token was created. */
  async function startsWith(data: string): Promise<void> {
    const { url } = await serving(['--data', data]);
    expect(await me(url, tokenIn(data))).toBe(200);
  }

  it('a port in use, and still creates a token at the next start', async () => {
    const { port } = new URL((await servingInMemory()).url);
    const data = newFolder();
    const { code, stderr } = await refused(data, ['--port', port]);
    expect(code).toBe(5);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain('--port 0');
    expect(existsSync(join(data, 'admin-token'))).toBe(false);
    await startsWith(data);
  });

  it('a data folder that it cannot write to, and creates a new token at the next start', async () => {
    const data = newFolder();
    const foreign = await refused(data, ['--host', '192.0.2.1']);
    expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining('Without TLS')]);
    mkdirSync(join(data, 'admin-token'));
    const { code, stderr } = await refused(data);
    expect([code, stderr]).toEqual([1, expect.stringContaining('SIGNAGE_ADMIN_TOKEN')]);
    rmdirSync(join(data, 'admin-token'));
    await startsWith(data);
  });

  it('a folder in use by another service, which keeps running', async () => {
    const data = newFolder();
    const { url } = await serving(['--data', data]);
    const { code, stderr } = await refused(data);
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /^signage: .+ is in use by process \d+, since \S+\. Stop it first, or use another folder\.\n$/,
    );
    expect(stderr).toContain(data);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('TLS of signage serve', () => {
  const cert = join(folder, 'cert.pem');
  const key = join(folder, 'key.pem');
  const install = (name: 'first' | 'second') => {
    for (const [kind, file] of Object.entries({ cert, key }))
      copyFileSync(new URL(`../../fixtures/tls/${name}.${kind}.pem`, import.meta.url), file);
  };
  /** Returns the certificate of a new connection. */
  const subject = (url: string) =>
    new Promise<string | undefined>((resolve, reject) => {
      const agent = new Agent({ rejectUnauthorized: false, maxCachedSessions: 0 });
      const call = request(`${url}/healthz`, { agent }, (response) => {
        const { CN } = (response.socket as TLSSocket).getPeerCertificate().subject;
        resolve(Array.isArray(CN) ? CN[0] : CN);
        response.resume();
        agent.destroy();
      });
      call.on('error', reject).end();
    });

  it('reloads certificate and key at SIGHUP, and keeps the old ones when the new ones are invalid', async () => {
    install('first');
    const { io, url } = await servingInMemory(['--tls-cert', cert, '--tls-key', key]);
    expect(io.err()).not.toContain('Without TLS');
    expect(url).toMatch(/^https:/);
    expect(await subject(url)).toBe('first.test');
    install('second');
    io.signal('SIGHUP');
    await io.until(/were reloaded\./);
    expect(await subject(url)).toBe('second.test');
    writeFileSync(key, 'nonsense');
    io.signal('SIGHUP');
    await io.until(/the old ones stay/);
    expect(await subject(url)).toBe('second.test');
    expect(io.err()).not.toContain('PRIVATE KEY');
  });
});

describe('the metrics token of signage serve', () => {
  const metrics = ({ url }: Serving) => statusOf(`${url}/metrics`, 'let-prometheus-in');
  const output = ({ io }: Serving) => io.out() + io.err();

  it('warns for --metrics-token that the command line is visible, and names the alternatives', async () => {
    const started = await servingInMemory(['--metrics-token', 'let-prometheus-in']);
    expect(started.io.err()).toMatch(
      /metrics token is in the command line.*SIGNAGE_METRICS_TOKEN or --metrics-token-file/,
    );
    expect(output(started)).not.toContain('let-prometheus-in');
    expect(await metrics(started)).toBe(200);
  });

  it('is read from SIGNAGE_METRICS_TOKEN or --metrics-token-file, without a warning', async () => {
    const file = join(folder, 'metrics-token');
    writeFileSync(file, 'let-prometheus-in\n', { mode: 0o600 });
    for (const started of [
      await servingInMemory([], { SIGNAGE_METRICS_TOKEN: 'let-prometheus-in' }),
      await servingInMemory(['--metrics-token-file', file]),
    ]) {
      expect(output(started)).not.toMatch(/metrics token|let-prometheus-in/);
      expect(await metrics(started)).toBe(200);
    }
  });
});
