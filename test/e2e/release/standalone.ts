import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { checkout, endProcesses, startProcess } from '../../support/process/signage-process.ts';
import { openTerminal } from '../../support/process/signage-terminal.ts';
import { adminToken } from '../../support/service/service.ts';

const tls = (name: string) => join(checkout, `test/fixtures/tls/${name}`);

/**
 * Defines the tests of a `signage` that needs no Node: they run it outside the checkout, with
 * nothing on the PATH. `isBundled`: its code is not that of the package, which has tests of its
 * own.
 */
export function testStandalone(signage: () => string, isBundled: boolean): void {
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    env = {
      PATH: '/nonexistent',
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      SIGNAGE_ADMIN_TOKEN: adminToken,
      SIGNAGE_TOKEN: adminToken,
    };
  });
  afterEach(endProcesses);

  const start = (argv: readonly string[], more: Record<string, string> = {}) =>
    startProcess(argv, { program: signage(), cwd: folder, env: { ...env, ...more } });

  /** Runs a command that must succeed, and returns its output. */
  async function run(argv: readonly string[], more: Record<string, string> = {}): Promise<string> {
    const process = start(argv, more);
    expect(await process.ended, `${argv.join(' ')}: ${process.err()}`).toBe(0);
    return process.out();
  }

  async function startService(options: readonly string[]): Promise<string> {
    const service = start(['serve', '--port', '0', ...options]);
    const [, url = ''] = await service.until(/Service\s+(\S+)/);
    return url;
  }

  async function expectConformance(url: string): Promise<void> {
    const report = await run(['conformance', '--url', url, '-o', 'json']);
    const rows = JSON.parse(report) as { result: string }[];
    expect(rows.filter(({ result }) => result === 'pass').length).toBeGreaterThan(300);
    expect(rows.filter(({ result }) => result === 'fail')).toEqual([]);
  }

  it('prints its version, help and completion scripts', async () => {
    const { version } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'));
    expect(await run(['--version'])).toBe(`${version}\n`);
    expect(await run(['serve', '--help'])).toContain('--demo');
    for (const shell of ['bash', 'zsh', 'fish'])
      expect(await run(['completion', shell])).toContain('signage');
    expect(await run(['completion', 'bash', '--', 'signage venue l'])).toBe('list\n');
  });

  it.each([
    ['operate', 'status', {}],
    ['develop', 'start_service', {}],
  ])('serves the tools of an assistant: %s', async (toolset, name, args) => {
    const url = toolset === 'operate' ? await startService(['--store', 'memory']) : '';
    const client = new Client({ name: 'test', version: '1' });
    const options = { command: signage(), cwd: folder, env: { ...env, SIGNAGE_URL: url } };
    await client.connect(
      new StdioClientTransport({ ...options, args: ['mcp', '--toolset', toolset] }),
    );
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain(name);
    const result = await client.callTool({ name, arguments: args });
    expect(result, JSON.stringify(result)).not.toHaveProperty('isError');
    await client.close();
  });

  it('serves the demo with its pages', async () => {
    const service = start(['serve', '--demo', '--port', '0', '--store', 'memory']);
    const [, url = ''] = await service.until(/Service\s+(\S+)/);
    await service.until(/Aurora Café \/ Window: paired/);
    for (const [path, text] of [
      ['/docs', 'swagger-ui-bundle.js'],
      ['/docs/swagger-ui-bundle.js', 'SwaggerUIBundle'],
      ['/docs/swagger-ui.css', '.swagger-ui'],
      ['/player', 'signage player'],
      ['/player/sw.js', 'signage-player'],
      ['/openapi.json', '"openapi"'],
    ] as const) {
      const response = await fetch(url + path);
      expect(response.status, path).toBe(200);
      expect(await response.text()).toContain(text);
    }
    if (isBundled) await expectConformance(url);
  });

  if (isBundled) {
    it('filters with --jq, writes YAML, backs up, and simulates TVs', async () => {
      const url = await startService(['--data', 'data']);
      const connection = { SIGNAGE_URL: url };
      await run(['venue', 'create', '--name', 'Lobby'], connection);
      expect(await run(['venue', 'list', '--jq', '.[].name'], connection)).toBe('Lobby\n');
      expect(await run(['venue', 'list', '-o', 'yaml'], connection)).toContain('name: Lobby');
      await run(['data', 'backup', '--out', 'backup.tar'], connection);
      await run(['data', 'restore', 'backup.tar', '--data', 'restored']);
      expect((await stat(join(folder, 'restored'))).isDirectory()).toBe(true);
      await run(
        ['simulate', '--scenario', 'week', '--count', '1', '--life', '1h', '--speed', 'max'],
        connection,
      );
    });

    it('examines media, in the service and in a command', async () => {
      const connection = { SIGNAGE_URL: await startService(['--store', 'memory']) };
      await writeFile(join(folder, 'a.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
      await run(['media', 'add', 'a.svg'], connection);
      expect(await run(['media', 'list', '-o', 'csv'], connection)).toContain('image/svg+xml');
    });

    it('keeps its data in PostgreSQL', async () => {
      const url = await startService(['--store', await freshDatabase()]);
      await run(['venue', 'create', '--name', 'Lobby'], { SIGNAGE_URL: url });
      expect(await run(['venue', 'list', '-o', 'name'], { SIGNAGE_URL: url })).not.toBe('');
    });

    it('serves HTTPS', async () => {
      await copyFile(tls('first.key.pem'), join(folder, 'key.pem'));
      const certificate = ['--tls-cert', tls('first.cert.pem'), '--tls-key', 'key.pem'];
      const url = await startService(['--store', 'memory', ...certificate]);
      expect(url).toMatch(/^https:/);
      const trusting = ['whoami', '-o', 'json', '--ca-file', tls('first.cert.pem')];
      expect(await run(trusting, { SIGNAGE_URL: url })).toContain('platform');
    });
  }

  it.skipIf(process.platform !== 'linux')('asks in a terminal (Linux only)', async () => {
    const url = await startService(['--store', 'memory']);
    // `script` and `stty`, which make the terminal, need the PATH.
    const { PATH: _, ...own } = env;
    const terminal = openTerminal(['login', '--url', url], own, [80, 24], [signage()]);
    await terminal.until(/Management token/);
    terminal.type(`${adminToken}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.written()).toContain('platform');
  });

  it('leaves nothing in its cache folder', async () => {
    await expect(stat(env.XDG_CACHE_HOME!)).rejects.toThrow('ENOENT');
  });
}
