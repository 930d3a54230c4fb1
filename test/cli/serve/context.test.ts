import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';
import { runCli } from '../run-cli.ts';
import { type ServingOptions, serving } from './serving.ts';

let home: string;
let file: string;
let data: string;

beforeEach(async () => {
  home = await temporaryFolder();
  file = join(home, 'signage', 'contexts.json');
  data = join(home, 'data');
});

/** Runs the service during `work`. */
async function servingWhile(
  argv: string[],
  work: (started: { url: string; out: string; err: string; io: FakeIo }) => Promise<void>,
  { env = {}, isTTY = true }: ServingOptions = {},
): Promise<void> {
  const options = { isTTY, env: { XDG_CONFIG_HOME: home, ...env } };
  const { io, url, stop } = await serving(
    argv.includes('--data') ? argv : ['--data', data, ...argv],
    options,
  );
  await work({ url, out: io.out(), err: io.err(), io });
  expect(await stop()).toBe(0);
}

const saved = async () => JSON.parse(await readFile(file, 'utf8'));
const cli = (...argv: string[]) => runCli(argv, { env: { XDG_CONFIG_HOME: home } });

describe('signage serve at a terminal', () => {
  it('saves the context local, which the suggested command uses', async () => {
    await servingWhile([], async ({ url, out }) => {
      expect(out).toContain('Try:   signage pair\n');
      expect(await saved()).toEqual({
        current: 'local',
        contexts: {
          local: {
            url,
            token: expect.stringMatching(/^mak_/),
            tokenId: expect.any(String),
            role: 'platform',
          },
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
    await servingWhile([], async () => {});
    const { local } = (await saved()).contexts;
    await servingWhile([], async ({ url, out }) => {
      expect(out).not.toContain('mak_');
      expect(await saved()).toEqual({ current: 'local', contexts: { local: { ...local, url } } });
      expect((await cli('venue', 'list')).code).toBe(0);
    });
  });

  it('keeps the context local of another service when it does not know its own token', async () => {
    await servingWhile([], async () => {});
    const other = await saved();
    other.contexts.local.token = `mak_${'x'.repeat(49)}`;
    await writeFile(file, JSON.stringify(other), { mode: 0o600 });
    await servingWhile([], async ({ out }) => expect(out).toContain('curl'));
    expect(await saved()).toEqual(other);
  });

  it('does not end the rotation of a token whose new secret is in the context', async () => {
    let old = '';
    await servingWhile([], async () => {
      old = (await saved()).contexts.local.token;
      const rotated = await cli('token', 'rotate', 'first start');
      expect(rotated.stderr).toContain('Saved in the context "local".');
    });
    const { local } = (await saved()).contexts;
    expect(local.token).not.toBe(old);
    await servingWhile([], async ({ url }) => {
      const { status } = await fetch(`${url}/v1/me`, {
        headers: { authorization: `Bearer ${old}` },
      });
      expect(status).toBe(200);
      expect((await saved()).contexts.local).toEqual({ ...local, url });
    });
  });

  it('uses its context instead of the file admin-token after the token was rotated', async () => {
    await servingWhile(['--demo'], async () =>
      expect((await cli('token', 'rotate', 'first start', '--now')).code).toBe(0),
    );
    const { local } = (await saved()).contexts;
    await servingWhile(['--demo'], async ({ url, out, err, io }) => {
      expect(err).toContain('The token in this file no longer works');
      expect(err).toContain(join(data, 'admin-token'));
      expect(out).toMatch(/^Context +local$/m);
      expect(await saved()).toEqual({ current: 'local', contexts: { local: { ...local, url } } });
      await io.until(/Events as they arrive/);
    });
    const alone = { isTTY: false, env: { XDG_CONFIG_HOME: '' } };
    await servingWhile(
      ['--demo'],
      async ({ url, out, io }) => {
        expect(out).toContain(`Log in:    signage login --url ${url}\n`);
        expect(out).toContain(`Try:       curl ${url}/healthz\n`);
        expect(out).toContain('No token?  start again with --new-admin-token');
        await io.until(/No simulated TVs/);
      },
      alone,
    );
  });

  it('saves a second service as local-2, and updates each when it starts again', async () => {
    const second = ['--data', join(home, 'second')];
    await servingWhile([], async ({ out }) => expect(out).toMatch(/^Context +local$/m));
    await servingWhile(second, async ({ out }) => {
      expect(out).toMatch(/^Context +local-2$/m);
      expect(out).toContain('Try:   signage pair --context local-2\n');
    });
    const tokens = async () =>
      Object.entries<{ token: string }>((await saved()).contexts).map(([name, { token }]) => [
        name,
        token,
      ]);
    const before = await tokens();
    expect(before.map(([name]) => name)).toEqual(['local', 'local-2']);
    await servingWhile([], async () => expect((await cli('venue', 'list')).code).toBe(0));
    await servingWhile(second, async () =>
      expect((await cli('venue', 'list', '--context', 'local-2')).code).toBe(0),
    );
    expect([(await saved()).current, await tokens()]).toEqual(['local', before]);
  });

  it('reuses the context of a service in memory at the same address', async () => {
    const memory = ['--store', 'memory'];
    let port = '';
    await servingWhile(memory, async ({ url }) => {
      port = new URL(url).port;
    });
    const { token } = (await saved()).contexts.local;
    await servingWhile([...memory, '--port', port], async ({ out }) => {
      expect(out).toMatch(/^Context +local$/m);
      expect((await cli('venue', 'list')).code).toBe(0);
    });
    expect((await saved()).contexts.local.token).not.toBe(token);
    await servingWhile(memory, async ({ out }) => expect(out).toMatch(/^Context +local-2$/m));
  });

  it('keeps another current context, and suggests --context local', async () => {
    await servingWhile([], async ({ url }) => {
      const { token } = (await saved()).contexts.local;
      await runCli(['login', '--url', url, '--context', 'work', '--token-stdin'], {
        stdin: token,
        env: { XDG_CONFIG_HOME: home },
      });
    });
    await servingWhile([], async ({ out }) => {
      expect((await saved()).current).toBe('work');
      expect(out).toContain('Try:   signage pair --context local\n');
      expect((await cli('venue', 'list', '--context', 'local')).code).toBe(0);
    });
  });

  it('saves its certificate as trusted', async () => {
    const pem = (name: string) =>
      new URL(`../../fixtures/tls/first.${name}.pem`, import.meta.url).pathname;
    await servingWhile(['--tls-cert', pem('cert'), '--tls-key', pem('key')], async () => {
      expect((await cli('venue', 'list')).code).toBe(0);
    });
  });

  it('serves with a warning when the context cannot be saved', async () => {
    await servingWhile([], async () => {});
    await chmod(file, 0o644);
    await servingWhile([], async ({ out, err }) => {
      expect(err).toMatch(/could not be saved/);
      expect(out).toContain('curl');
    });
    await writeFile(file, '{', { mode: 0o600 });
    await chmod(file, 0o600);
    await servingWhile([], async ({ err }) => expect(err).toMatch(/could not be saved/));
  });
});

describe('signage serve saves no context', () => {
  it.each<[string, string[], ServingOptions]>([
    ['with --no-context', ['--no-context'], {}],
    ['with SIGNAGE_NO_CONTEXT', [], { env: { SIGNAGE_NO_CONTEXT: '1' } }],
    ['under CI', [], { env: { CI: 'true' } }],
    ['without a terminal', [], { isTTY: false }],
    ['without a configuration folder', [], { env: { XDG_CONFIG_HOME: '' } }],
  ])('%s', async (_, argv, options) => {
    await servingWhile(argv, async ({ out }) => expect(out).toContain('curl'), options);
    await expect(saved()).rejects.toThrow('ENOENT');
  });
});
