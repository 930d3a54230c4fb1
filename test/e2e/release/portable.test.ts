// The archive with Node inside: built, unpacked, and run without any other Node. Needs
// `npm run build`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderBytes } from '../../support/disk/folder-bytes.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { checkout } from '../../support/process/signage-process.ts';
import { testStandalone } from './standalone.ts';

describe('npm run portable', () => {
  let folder: string;
  let signage: string;
  beforeAll(async () => {
    folder = join(await temporaryFolder(), 'with a space');
    const archive = `${folder}.tar.gz`;
    const { status, stderr } = spawnSync(
      process.execPath,
      ['scripts/release/portable.js', '--out', archive],
      { cwd: checkout, encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    const [unpacked = ''] = readdirSync(folder);
    signage = join(folder, unpacked, 'signage');
  }, 300_000);

  testStandalone(() => signage, false);

  it('has about the sizes that docs/install.md gives', async () => {
    const page = readFileSync(join(checkout, 'docs/install.md'), 'utf8');
    const stated = /(\d+) MB, unpacked (\d+) MB/.exec(page)!.slice(1).map(Number);
    const sizes = [statSync(`${folder}.tar.gz`).size, await folderBytes(folder)];
    const ratios = sizes.map((bytes, index) => bytes / 1e6 / stated[index]!);
    // The sizes of versions of Node differ.
    for (const ratio of ratios) expect(Math.abs(ratio - 1), `${sizes}`).toBeLessThan(0.2);
  });

  it.each([
    ['absolute', () => signage],
    ['relative', () => join('unpacked', 'signage')],
  ])('runs through a symbolic link that is %s', async (_, target) => {
    const place = await temporaryFolder();
    symlinkSync(join(signage, '..'), join(place, 'unpacked'));
    symlinkSync(target(), join(place, 'link'));
    symlinkSync('link', join(place, 'signage'));
    expect(execFileSync(join(place, 'signage'), ['--version'], { encoding: 'utf8' })).toMatch(
      /^\d/,
    );
  });

  it('has the licences of its packages, also of those in its bundles', () => {
    const licences = readFileSync(join(signage, '../licenses.txt'), 'utf8');
    for (const name of ['signage-kit', 'hono', 'pg', 'mediabunny', 'saxes', 'idb', 'Node.js'])
      expect(licences).toMatch(new RegExp(`^${name}\\b`, 'm'));
  });

  it('contains no package of the development', () => {
    const packages = readdirSync(join(signage, '../package/node_modules'));
    expect(packages).toContain('hono');
    for (const name of ['vitest', 'typescript', 'rolldown']) expect(packages).not.toContain(name);
  });
});
