import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Running, serve } from '../../../src/serve.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { cliOf, runCli } from '../run-cli.ts';

const token = `mak_${'t'.repeat(40)}`;

/** Starts the service, and stops it once it is ready. */
const start = (argv: string[], env: Record<string, string> = {}) =>
  runCli(['serve', '--port', '0', '--no-context', ...argv], {
    env: { SIGNAGE_ADMIN_TOKEN: token, ...env },
    during: async (io) => {
      await io.until(/The service is ready/);
      io.signal('SIGTERM');
    },
  });

/** Makes a data folder of an earlier run. */
async function usedFolder(): Promise<string> {
  const data = join(await temporaryFolder(), 'data');
  expect((await start(['--data', data])).code).toBe(0);
  await writeFile(join(data, 'admin-token'), token, { mode: 0o600 });
  return data;
}

describe.skipIf(process.platform === 'win32')('signage serve', () => {
  it('creates folders with mode 0700 and files with mode 0600, whatever the umask', async () => {
    const before = process.umask(0);
    const data = await usedFolder().finally(() => process.umask(before));
    const entries = await readdir(data, { recursive: true, withFileTypes: true });
    const modes = await Promise.all(
      entries.map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path, entry.isDirectory() ? 'folder' : 'file', (await stat(path)).mode & 0o777];
      }),
    );
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    expect(modes.length).toBeGreaterThan(4);
    expect(modes.filter(([, kind, mode]) => mode !== (kind === 'folder' ? 0o700 : 0o600))).toEqual(
      [],
    );
  });

  it.each([
    ['the data folder', '', 0o770, '0770'],
    ['the data folder', '', 0o702, '0702'],
    ['the secret', 'secret', 0o620, '0620'],
    ['the token file', 'admin-token', 0o666, '0666'],
    ['the manifest', 'manifest.json', 0o602, '0602'],
    ['the journal', 'journal', 0o730, '0730'],
  ])(
    '4 when others can change %s (%s, %o), unless --allow-open-data',
    async (_what, name, mode, shown) => {
      const data = await usedFolder();
      const path = join(data, name);
      await chmod(path, mode);
      const message = `${path.replace(/\/$/, '')} can be changed by others on this machine (mode ${shown}): chmod -R go-rwx ${data}`;
      const refused = await start(['--data', data]);
      expect([refused.code, refused.stderr]).toEqual([
        4,
        expect.stringContaining(`signage: ${message}\n`),
      ]);
      const allowed = await start(['--data', data, '--allow-open-data']);
      expect([allowed.code, allowed.stderr]).toEqual([0, expect.stringContaining(message)]);
      expect((await start(['--data', data], { SIGNAGE_ALLOW_OPEN_DATA: 'true' })).code).toBe(0);
      await promisify(execFile)('sh', ['-c', message.replace(/^.*: /, '')]);
      const mended = await start(['--data', data]);
      expect([mended.code, mended.stderr]).toEqual([0, expect.not.stringContaining('by others')]);
    },
  );

  it.each([
    ['the data folder', '', 0o750],
    ['the secret', 'secret', 0o640],
    ['the token file', 'admin-token', 0o604],
  ])('warns once when others can read %s', async (_what, name, mode) => {
    const data = await usedFolder();
    await chmod(join(data, name), mode);
    const { code, stderr } = await start(['--data', data]);
    expect(code).toBe(0);
    expect(stderr.split('by others on this machine')).toHaveLength(2);
    expect(stderr).toContain(`chmod -R go-rwx ${data}`);
  });

  it.each(['--metrics-token-file', '--on-demand-token-file', '--store-file', '--tls-key'])(
    '4 when others can change the file of %s',
    async (flag) => {
      const path = join(await temporaryFolder(), 'a secret');
      await writeFile(path, 'postgres://signage@127.0.0.1:9/signage');
      await chmod(path, 0o660);
      const { code, stderr } = await start([
        flag,
        path,
        ...(flag === '--tls-key' ? ['--tls-cert', path] : []),
      ]);
      expect([code, stderr]).toEqual([
        4,
        expect.stringContaining(`(mode 0660): chmod go-rwx '${path}'\n`),
      ]);
    },
  );

  it('warns when others can read a file with a secret', async () => {
    const path = join(await temporaryFolder(), 'metrics');
    await writeFile(path, 'x'.repeat(40), { mode: 0o640 });
    const { code, stderr } = await start([
      '--data',
      await usedFolder(),
      '--metrics-token-file',
      path,
    ]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        `${path} can be read by others on this machine (mode 0640): chmod go-rwx ${path}`,
      ),
    ]);
  });
});

describe.skipIf(process.platform === 'win32')('serve', () => {
  let data: string;
  beforeAll(async () => {
    data = join(await temporaryFolder(), 'data');
    await mkdir(data);
    await chmod(data, 0o777);
  });

  it('throws open_to_others for a data folder that others can change, before it writes to it', async () => {
    await expect(serve({ port: 0, store: data })).rejects.toMatchObject({ code: 'open_to_others' });
    expect(await readdir(data)).toEqual([]);
  });

  it('accepts it with allowOpenData', async () => {
    const running: Running = await serve({ port: 0, store: data, allowOpenData: true });
    await running.close();
    expect(await readdir(data)).toContain('secret');
  });
});

describe.skipIf(process.platform === 'win32')('--token-file', () => {
  it('4 for a file that others can change', async () => {
    const path = join(await temporaryFolder(), 'token');
    await writeFile(path, token);
    await chmod(path, 0o646);
    const cli = cliOf({ url: 'http://127.0.0.1:9' }, '');
    for (const argv of [
      ['venue', 'list', '--token-file', path],
      ['login', '--token-file', path],
    ]) {
      const { code, stderr } = await cli(argv);
      expect([code, stderr]).toEqual([4, expect.stringContaining(`chmod go-rwx ${path}`)]);
    }
  });
});
