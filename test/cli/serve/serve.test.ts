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
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { type FakeIo, fakeIo } from '../../support/fake-io.ts';
import { runCli } from '../run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'signage-serve-'));
const given = 'mak_abcdefghijklmnopqrstuvwxyz';
let started: { io: FakeIo; code: Promise<number> } | undefined;
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => stop());

const inShell = promisify(exec);
const newFolder = () => join(folder, `data ${++count}`);

/** Starts `signage serve` on any free port and waits until it is ready. */
async function start(
  argv: string[],
  { env = {}, isTTY = false }: { env?: Record<string, string>; isTTY?: boolean } = {},
) {
  const io = fakeIo({ env, isTTY });
  const code = main(['serve', '--port', '0', ...argv], io);
  started = { io, code };
  const ready = io.until(/https?:\/\/127\.0\.0\.1:\d+/);
  const url = await Promise.race([
    ready,
    code.then(() => Promise.reject(new Error(`ended: ${io.err()}`))),
  ]);
  await io.until(/Try: /);
  return { io, code, url };
}

async function stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM'): Promise<number | undefined> {
  if (!started) return undefined;
  const { io, code } = started;
  started = undefined;
  io.signal(signal);
  return code;
}

async function me(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;
}

describe('signage serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'serves until %s, then ends with 0 and frees the port',
    async (signal) => {
      const { url, io } = await start(['--store', 'memory'], {
        env: { SIGNAGE_ADMIN_TOKEN: given },
      });
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(await stop(signal)).toBe(0);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
      expect(io.signal('SIGTERM')).toBe(false);
    },
  );

  it('ends immediately at the second signal, with its exit code', async () => {
    const { io, code } = await start(['--store', 'memory'], {
      env: { SIGNAGE_ADMIN_TOKEN: given },
    });
    started = undefined;
    io.signal('SIGTERM');
    io.signal('SIGINT');
    expect(await code).toBe(130);
    await io.until(/Stopped\./);
  });
});

describe('the first start of signage serve', () => {
  it('shows the token on a terminal only once, with a command that works', async () => {
    const data = newFolder();
    const { io, url } = await start(['--data', data], { isTTY: true });
    const [token] = /mak_[0-9A-Za-z]{49}/.exec(io.out())!;
    expect(await me(url, token)).toBe(200);
    const command = /Try: +(curl .*)/.exec(io.out())![1]!;
    expect(JSON.parse((await inShell(`${command} --silent --max-time 5`)).stdout)).toMatchObject({
      role: 'platform',
    });
    expect(io.err()).not.toContain('mak_');
    expect(existsSync(join(data, 'admin-token'))).toBe(false);
    await stop();

    const again = await start(['--data', data], { isTTY: true });
    expect(again.io.out()).not.toContain('mak_');
    expect(await me(again.url, token)).toBe(200);
  });

  it('writes the token to a private file without a terminal, and names only the file', async () => {
    const data = newFolder();
    const { io, url } = await start(['--data', data]);
    const file = join(data, 'admin-token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await me(url, readFileSync(file, 'utf8').trim())).toBe(200);
    expect(io.out() + io.err()).not.toContain('mak_');
    expect(io.err()).toContain(file);
    expect(io.out()).toContain(`Log in:  signage login --url ${url} --token-file '${file}'\n`);
    expect((await runCli(['login', '--url', url, '--token-file', file])).stdout).toContain(
      'platform',
    );
    const command = /Try: +(curl .*)/.exec(io.out())![1]!;
    expect(JSON.parse((await inShell(`${command} --silent --max-time 5`)).stdout)).toMatchObject({
      role: 'platform',
    });
  });

  it('neither shows nor writes the token of SIGNAGE_ADMIN_TOKEN', async () => {
    const data = newFolder();
    const { io, url } = await start(['--data', data], {
      env: { SIGNAGE_ADMIN_TOKEN: given },
      isTTY: true,
    });
    expect(await me(url, given)).toBe(200);
    expect(io.out() + io.err()).not.toContain('mak_');
    expect(existsSync(join(data, 'admin-token'))).toBe(false);
  });
});

describe('signage serve rejects', () => {
  async function refused(argv: string[], env: Record<string, string> = {}) {
    const io = fakeIo({ env });
    const code = await main(['serve', '--port', '0', ...argv], io);
    expect(io.out()).toBe('');
    return { code, err: io.err() };
  }

  it.each([
    [['--code-ttl-minutes', '0'], {}, '--code-ttl-minutes must be a whole number from 1 to 60'],
    [['--store', 'memory'], {}, 'SIGNAGE_ADMIN_TOKEN'],
    [['--store', 'memory'], { SIGNAGE_ADMIN_TOKEN: 'short' }, 'mak_ and at least 24 characters'],
    [['--tls-cert', '/nowhere/cert.pem'], {}, '--tls-cert and --tls-key need each other'],
    [
      ['--tls-cert', '/nowhere/cert.pem', '--tls-key', '/nowhere/key.pem'],
      {},
      'No such file: /nowhere/cert.pem (--tls-cert).',
    ],
    [
      ['--metrics-token-file', '/nowhere/token'],
      {},
      'No such file: /nowhere/token (--metrics-token-file).',
    ],
  ])('%j with %j as wrong usage', async (argv, env, message) => {
    const data = newFolder();
    const { code, err } = await refused(['--data', data, ...argv], env as Record<string, string>);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(existsSync(data)).toBe(false);
  });

  it('a port in use, and still creates a token at the next start', async () => {
    const { url } = await start(['--store', 'memory'], { env: { SIGNAGE_ADMIN_TOKEN: given } });
    const port = new URL(url).port;
    const data = newFolder();
    const { code, err } = await refused(['--data', data, '--port', port]);
    expect(code).toBe(5);
    expect(err).toContain(`127.0.0.1:${port}`);
    expect(err).toContain('--port 0');
    expect(existsSync(join(data, 'admin-token'))).toBe(false);
    await stop();
    const next = await start(['--data', data]);
    expect(await me(next.url, readFileSync(join(data, 'admin-token'), 'utf8').trim())).toBe(200);
  });

  it('a data folder that it cannot write to, and creates a new token at the next start', async () => {
    const data = newFolder();
    expect((await refused(['--data', data, '--host', '192.0.2.1'])).code).toBe(2);
    mkdirSync(join(data, 'admin-token'));
    const { code, err } = await refused(['--data', data]);
    expect(code).toBe(1);
    expect(err).toContain('SIGNAGE_ADMIN_TOKEN');
    rmdirSync(join(data, 'admin-token'));
    const next = await start(['--data', data]);
    expect(await me(next.url, readFileSync(join(data, 'admin-token'), 'utf8').trim())).toBe(200);
  });

  it('a folder in use by another service, which keeps running', async () => {
    const data = newFolder();
    const { url } = await start(['--data', data]);
    const { code, err } = await refused(['--data', data]);
    expect(code).toBe(5);
    expect(err).toContain(data);
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
    const { io, url } = await start(['--store', 'memory', '--tls-cert', cert, '--tls-key', key], {
      env: { SIGNAGE_ADMIN_TOKEN: given },
    });
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

  it('is recommended at the start when keys would cross a network unencrypted', async () => {
    const { io } = await start(['--store', 'memory', '--host', '127.0.0.1'], {
      env: { SIGNAGE_ADMIN_TOKEN: given },
    });
    expect(io.err()).not.toContain('Without TLS');
    await stop();
    const refused = fakeIo({ env: { SIGNAGE_ADMIN_TOKEN: given } });
    expect(
      await main(['serve', '--store', 'memory', '--host', '192.0.2.1', '--port', '0'], refused),
    ).toBe(2);
    expect(refused.err()).toContain('Without TLS');
  });
});

describe('signage serve --metrics-token', () => {
  it('warns that the command line is visible, names the alternatives, and does not repeat the token', async () => {
    const env = { SIGNAGE_ADMIN_TOKEN: given };
    const { io, url } = await start(['--store', 'memory', '--metrics-token', 'let-prometheus-in'], {
      env,
    });
    expect(io.err()).toMatch(
      /metrics token is in the command line.*SIGNAGE_METRICS_TOKEN or --metrics-token-file/,
    );
    expect(io.out() + io.err()).not.toContain('let-prometheus-in');
    expect(
      (await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer let-prometheus-in' } }))
        .status,
    ).toBe(200);
  });

  it('does not warn for SIGNAGE_METRICS_TOKEN', async () => {
    const env = { SIGNAGE_ADMIN_TOKEN: given, SIGNAGE_METRICS_TOKEN: 'let-prometheus-in' };
    const { io } = await start(['--store', 'memory'], { env });
    expect(io.err()).not.toContain('metrics token');
  });
});

describe('signage serve --metrics-token-file', () => {
  it('opens /metrics, and is not shown', async () => {
    const file = join(folder, 'metrics-token');
    writeFileSync(file, 'let-prometheus-in\n');
    const { io, url } = await start(['--store', 'memory', '--metrics-token-file', file], {
      env: { SIGNAGE_ADMIN_TOKEN: given },
    });
    expect(
      (await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer let-prometheus-in' } }))
        .status,
    ).toBe(200);
    expect(io.out() + io.err()).not.toContain('let-prometheus-in');
  });
});
