import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { type FakeIo, fakeIo } from '../../support/fake-io.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCli } from '../run-cli.ts';

let home: string;
let file: string;
let data: string;

beforeEach(async () => {
  home = await temporaryFolder();
  file = join(home, 'signage', 'contexts.json');
  data = join(home, 'data');
});

interface Started {
  url: string;
  out: string;
  err: string;
  io: FakeIo;
}

/** Runs the service during `work`. */
async function serving(
  argv: string[],
  work: (started: Started) => Promise<void>,
  { env = {}, isTTY = true } = {},
): Promise<void> {
  const io = fakeIo({ isTTY, env: { XDG_CONFIG_HOME: home, ...env } });
  const ended = main(['serve', '--port', '0', '--data', data, ...argv], io);
  await Promise.race([io.until(/Try: /), ended]);
  const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(io.out())![0];
  await work({ url, out: io.out(), err: io.err(), io }).finally(() => io.signal('SIGTERM'));
  expect(await ended).toBe(0);
}

const saved = async () => JSON.parse(await readFile(file, 'utf8'));
const cli = (...argv: string[]) => runCli(argv, { env: { XDG_CONFIG_HOME: home } });

describe('signage serve at a terminal', () => {
  it('saves the context local, which the suggested command uses', async () => {
    await serving([], async ({ url, out }) => {
      expect(out).toContain('Try:   signage venue list\n');
      expect(await saved()).toEqual({
        current: 'local',
        contexts: {
          local: { url, token: expect.stringMatching(/^mak_/), tokenId: expect.any(String) },
        },
      });
      expect((await cli('venue', 'list')).code).toBe(0);
      expect((await cli('whoami', '-o', 'json')).json).toMatchObject({
        role: 'platform',
        context: 'local',
      });
    });
  });

  it('updates the context for another port, and keeps its token', async () => {
    await serving([], async () => {});
    const { local } = (await saved()).contexts;
    await serving([], async ({ url, out }) => {
      expect(out).not.toContain('mak_');
      expect(await saved()).toEqual({ current: 'local', contexts: { local: { ...local, url } } });
      expect((await cli('venue', 'list')).code).toBe(0);
    });
  });

  it('keeps the context local of another service when it does not know its own token', async () => {
    await serving([], async () => {});
    const other = await saved();
    other.contexts.local.token = `mak_${'x'.repeat(49)}`;
    await writeFile(file, JSON.stringify(other), { mode: 0o600 });
    await serving([], async ({ out }) => expect(out).toContain('curl'));
    expect(await saved()).toEqual(other);
  });

  it('does not end the rotation of a token whose new secret is in the context', async () => {
    let old = '';
    await serving([], async () => {
      old = (await saved()).contexts.local.token;
      const rotated = await cli('token', 'rotate', 'first start');
      expect(rotated.stderr).toContain('Saved in the context "local".');
    });
    const { local } = (await saved()).contexts;
    expect(local.token).not.toBe(old);
    await serving([], async ({ url }) => {
      const { status } = await fetch(`${url}/v1/me`, {
        headers: { authorization: `Bearer ${old}` },
      });
      expect(status).toBe(200);
      expect((await saved()).contexts.local).toEqual({ ...local, url });
    });
  });

  it('uses its context instead of the file admin-token after the token was rotated', async () => {
    await serving(['--demo'], async () =>
      expect((await cli('token', 'rotate', 'first start', '--now')).code).toBe(0),
    );
    const { local } = (await saved()).contexts;
    await serving(['--demo'], async ({ url, out, err, io }) => {
      expect(err).toContain('The token in this file no longer works');
      expect(err).toContain(join(data, 'admin-token'));
      expect(out).toMatch(/^Context +local$/m);
      expect(await saved()).toEqual({ current: 'local', contexts: { local: { ...local, url } } });
      await io.until(/Events as they arrive/);
    });
    const alone = { isTTY: false, env: { XDG_CONFIG_HOME: '' } };
    await serving(
      ['--demo'],
      async ({ url, out, io }) => {
        expect(out).toContain(`Log in:  signage login --url ${url}\n`);
        expect(out).toContain(`Try:     curl ${url}/healthz\n`);
        await io.until(/No simulated TVs/);
      },
      alone,
    );
  });

  it('saves a second service as local-2, and updates each when it starts again', async () => {
    const second = ['--data', join(home, 'second')];
    await serving([], async ({ out }) => expect(out).toMatch(/^Context +local$/m));
    await serving(second, async ({ out }) => {
      expect(out).toMatch(/^Context +local-2$/m);
      expect(out).toContain('Try:   signage venue list --context local-2\n');
    });
    const tokens = async () =>
      Object.entries<{ token: string }>((await saved()).contexts).map(([name, { token }]) => [
        name,
        token,
      ]);
    const before = await tokens();
    expect(before.map(([name]) => name)).toEqual(['local', 'local-2']);
    await serving([], async () => expect((await cli('venue', 'list')).code).toBe(0));
    await serving(second, async () =>
      expect((await cli('venue', 'list', '--context', 'local-2')).code).toBe(0),
    );
    expect([(await saved()).current, await tokens()]).toEqual(['local', before]);
  });

  it('reuses the context of a service in memory at the same address', async () => {
    const memory = ['--store', 'memory'];
    let port = '';
    await serving(memory, async ({ url }) => {
      port = new URL(url).port;
    });
    const { token } = (await saved()).contexts.local;
    await serving([...memory, '--port', port], async ({ out }) => {
      expect(out).toMatch(/^Context +local$/m);
      expect((await cli('venue', 'list')).code).toBe(0);
    });
    expect((await saved()).contexts.local.token).not.toBe(token);
    await serving(memory, async ({ out }) => expect(out).toMatch(/^Context +local-2$/m));
  });

  it('keeps another current context, and suggests --context local', async () => {
    await serving([], async ({ url }) => {
      const { token } = (await saved()).contexts.local;
      await runCli(['login', '--url', url, '--context', 'work', '--token-stdin'], {
        stdin: token,
        env: { XDG_CONFIG_HOME: home },
      });
    });
    await serving([], async ({ out }) => {
      expect((await saved()).current).toBe('work');
      expect(out).toContain('Try:   signage venue list --context local\n');
      expect((await cli('venue', 'list', '--context', 'local')).code).toBe(0);
    });
  });

  it('saves its certificate as trusted', async () => {
    const pem = (name: string) =>
      new URL(`../../fixtures/tls/first.${name}.pem`, import.meta.url).pathname;
    await serving(['--tls-cert', pem('cert'), '--tls-key', pem('key')], async () => {
      expect((await cli('venue', 'list')).code).toBe(0);
    });
  });

  it('serves with a warning when the context cannot be saved', async () => {
    await serving([], async () => {});
    await chmod(file, 0o644);
    await serving([], async ({ out, err }) => {
      expect(err).toMatch(/could not be saved/);
      expect(out).toContain('curl');
    });
    await writeFile(file, '{', { mode: 0o600 });
    await chmod(file, 0o600);
    await serving([], async ({ err }) => expect(err).toMatch(/could not be saved/));
  });
});

describe('signage serve saves no context', () => {
  it.each<[string, string[], { env?: Record<string, string>; isTTY?: boolean }]>([
    ['with --no-context', ['--no-context'], {}],
    ['with SIGNAGE_NO_CONTEXT', [], { env: { SIGNAGE_NO_CONTEXT: '1' } }],
    ['under CI', [], { env: { CI: 'true' } }],
    ['without a terminal', [], { isTTY: false }],
    ['without a configuration folder', [], { env: { XDG_CONFIG_HOME: '' } }],
  ])('%s', async (_, argv, options) => {
    await serving(argv, async ({ out }) => expect(out).toContain('curl'), options);
    await expect(saved()).rejects.toThrow('ENOENT');
  });
});
