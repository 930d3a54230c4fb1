// Starts of `signage serve` that fail for a file, a folder or a database: exit code and next step.
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { runCli } from '../run-cli.ts';
import { serving } from './serving.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});
const start = (...argv: string[]) => runCli(['serve', '--port', '0', ...argv]);

describe('signage serve --tls-cert --tls-key', () => {
  async function startWith(certificate: string, key: string) {
    const [cert, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    await copyFile(fixture(certificate), cert);
    if (key.startsWith('-----')) await writeFile(keyFile, key);
    else await copyFile(fixture(key), keyFile);
    await chmod(keyFile, 0o600);
    const { code, stderr } = await start('--tls-cert', cert, '--tls-key', keyFile);
    return { code, text: stderr.replaceAll(`${folder}/`, '') };
  }

  it.each([
    [
      'the key of another certificate',
      ['first.cert', 'second.key'],
      /The key in key.pem does not belong to the certificate in cert.pem .*\n +Name the key that/,
    ],
    [
      'a key in place of the certificate',
      ['first.key', 'first.key'],
      /^signage: cert.pem \(--tls-cert\) contains no usable certificate.*\n.*-----BEGIN/m,
    ],
    [
      'a certificate in place of the key',
      ['first.cert', 'first.cert'],
      /^signage: key.pem \(--tls-key\) contains no usable private key.*\n.*-----BEGIN/m,
    ],
    [
      'a key with a passphrase',
      [
        'first.cert',
        '-----BEGIN ENCRYPTED PRIVATE KEY-----\nx\n-----END ENCRYPTED PRIVATE KEY-----\n',
      ],
      /protected by a passphrase.\n +Store it without one: openssl pkey -in key.pem -out key.pem/,
    ],
  ] as const)('2 for %s, without the words of OpenSSL', async (_, [certificate, key], text) => {
    const run = await startWith(certificate, key);
    expect(run.code).toBe(2);
    expect(run.text).toMatch(text);
    expect(run.text).not.toMatch(/routines|error:[0-9A-F]/);
  });
});

describe('signage serve --data', () => {
  const isRoot = process.getuid?.() === 0;
  const nobody = 65_534;

  it.skipIf(process.platform === 'win32')(
    '6 in a folder that the user may not write to, with that folder (Windows has no such modes)',
    async () => {
      await chmod(folder, 0o555);
      if (isRoot) {
        process.seteuid?.(nobody);
        onTestFinished(() => process.seteuid?.(0));
      }
      const { code, stderr } = await start('--data', join(folder, 'data'));
      expect(code).toBe(6);
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
        `may not create a folder in ${folder}. Choose`,
      );
      expect(stderr).not.toContain('chown');
    },
  );

  it('6 for damaged data, with the commands for this folder', async () => {
    const data = join(folder, 'data');
    await (await serving(['--data', data])).stop();
    const names = (await readdir(data)).filter((name) => name.startsWith('manifest'));
    for (const name of names) await writeFile(join(data, name), 'nonsense');
    const { code, stderr } = await start('--data', data);
    expect(code).toBe(6);
    expect(stderr).toContain(`signage data check ${data}`);
    expect(stderr).toContain(`signage data repair ${data} --into NEW`);
    expect(stderr).not.toContain('FOLDER');
  });

  it('7 on a full disk, said once, with the folder', async (context) => {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      return context.skip('Only root may mount a small disk.');
    }
    onTestFinished(() => void execFileSync('umount', ['-l', disk]));
    const data = join(disk, 'data');
    const { code, stderr } = await start('--data', data);
    expect(code).toBe(7);
    expect(stderr).toContain(`store, ${data}: The disk is full: free some space on it`);
    expect(stderr.match(/disk is full/g)).toHaveLength(1);
    expect(stderr).not.toMatch(/doctor|Try again (?:in|later)/);
  });
});

describe('signage serve --store postgres://…', () => {
  const startIn = (url: string) =>
    runCli(['serve', '--port', '0'], {
      env: { SIGNAGE_STORE: url, SIGNAGE_ADMIN_TOKEN: `mak_${'a'.repeat(40)}` },
    });

  it('7 for a database that does not exist, with the command that creates it', async () => {
    const url = new URL(await freshDatabase());
    url.pathname = '/absent';
    const { code, stderr } = await startIn(url.href);
    expect(code).toBe(7);
    expect(stderr).toContain('database "absent" does not exist');
    expect(stderr).toContain('Create the database with createdb absent, or correct its name');
  });

  it('7 for a user that does not exist', async () => {
    const url = new URL(await freshDatabase());
    url.username = 'stranger';
    const { code, stderr } = await startIn(url.href);
    expect(code).toBe(7);
    expect(stderr).toContain('Correct user and password in the URL of the store');
  });
});
