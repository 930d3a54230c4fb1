import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../../src/serve.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { runCli } from '../run-cli.ts';

const token = `mak_${'t'.repeat(40)}`;
let used: string;

/** Starts the service, and stops it once it is ready. */
const start = (argv: string[], env: Record<string, string> = {}) =>
  runCli(['serve', '--port', '0', '--no-context', ...argv], {
    env: { SIGNAGE_ADMIN_TOKEN: token, ...env },
    during: async (io) => {
      await io.until(/The service is ready/);
      io.signal('SIGTERM');
    },
  });

/** Copies the data folder of an earlier run, and changes the mode of a file in it. */
async function folderWith(name: string, mode: number): Promise<{ data: string; path: string }> {
  const data = join(await temporaryFolder(), 'data');
  await cp(used, data, { recursive: true, preserveTimestamps: true });
  await promisify(execFile)('chmod', ['-R', 'go-rwx', data]);
  const path = join(data, name);
  await chmod(path, mode);
  return { data, path };
}

describe.skipIf(process.platform === 'win32')('signage serve', () => {
  beforeAll(async () => {
    const before = process.umask(0);
    used = join(await temporaryFolder(), 'data');
    const { code } = await start(['--data', used]).finally(() => process.umask(before));
    expect(code).toBe(0);
    await writeFile(join(used, 'admin-token'), token, { mode: 0o600 });
  });

  it('creates folders with mode 0700 and files with mode 0600, whatever the umask', async () => {
    const entries = await readdir(used, { recursive: true, withFileTypes: true });
    const modes = await Promise.all(
      entries.map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path, entry.isDirectory() ? 'folder' : 'file', (await stat(path)).mode & 0o777];
      }),
    );
    expect((await stat(used)).mode & 0o777).toBe(0o700);
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
  ])('4 when others can change %s (%s, %o)', async (_what, name, mode, shown) => {
    const { data, path } = await folderWith(name, mode);
    const message = `${path.replace(/\/$/, '')} can be changed by others on this machine (mode ${shown}): chmod -R go-rwx ${data}`;
    const { code, stderr } = await start(['--data', data]);
    expect([code, stderr]).toEqual([4, expect.stringContaining(`signage: ${message}\n`)]);
  });

  it('starts when others can change the data with --allow-open-data, and after the shown command', async () => {
    const { data } = await folderWith('secret', 0o620);
    const warning = expect.stringContaining('can be changed by others');
    const allowed = await start(['--data', data, '--allow-open-data']);
    expect([allowed.code, allowed.stderr]).toEqual([0, warning]);
    expect((await start(['--data', data], { SIGNAGE_ALLOW_OPEN_DATA: 'true' })).code).toBe(0);
    const [command = ''] = /chmod .*/.exec(allowed.stderr) ?? [];
    await promisify(execFile)('sh', ['-c', command.replace(/".*/, '')]);
    const mended = await start(['--data', data]);
    expect([mended.code, mended.stderr]).toEqual([0, expect.not.stringContaining('by others')]);
  });

  it.each([
    ['the data folder', '', 0o750],
    ['the secret', 'secret', 0o640],
    ['the token file', 'admin-token', 0o604],
  ])('warns once when others can read %s', async (_what, name, mode) => {
    const { data } = await folderWith(name, mode);
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
      const more = flag === '--tls-key' ? ['--tls-cert', path] : [];
      const { code, stderr } = await start([flag, path, ...more]);
      const message = `(mode 0660): chmod go-rwx '${path}'\n`;
      expect([code, stderr]).toEqual([4, expect.stringContaining(message)]);
    },
  );

  it('warns when others can read a file with a secret', async () => {
    const path = join(await temporaryFolder(), 'metrics');
    await writeFile(path, 'x'.repeat(40), { mode: 0o640 });
    const argv = ['--store', 'memory', '--metrics-token-file', path];
    const { code, stderr } = await start(argv);
    const message = `${path} can be read by others on this machine (mode 0640): chmod go-rwx ${path}`;
    expect([code, stderr]).toEqual([0, expect.stringContaining(message)]);
  });
});

describe.skipIf(process.platform === 'win32')('serve', () => {
  it('throws open_to_others for a data folder that others can change, unless allowOpenData', async () => {
    const data = join(await temporaryFolder(), 'data');
    await mkdir(data);
    await chmod(data, 0o777);
    await expect(serve({ port: 0, store: data })).rejects.toMatchObject({ code: 'open_to_others' });
    expect(await readdir(data)).toEqual([]);
    await (await serve({ port: 0, store: data, allowOpenData: true })).close();
    expect(await readdir(data)).toContain('secret');
  });
});

it.skipIf(process.platform === 'win32')(
  '4 when others can change the file of --token-file',
  async () => {
    const path = join(await temporaryFolder(), 'token');
    await writeFile(path, token);
    await chmod(path, 0o646);
    for (const argv of [['venue', 'list'], ['login']]) {
      const url = ['--url', 'http://127.0.0.1:9', '--token-file', path];
      const { code, stderr } = await runCli([...argv, ...url]);
      expect([code, stderr]).toEqual([4, expect.stringContaining(`chmod go-rwx ${path}`)]);
    }
  },
);
