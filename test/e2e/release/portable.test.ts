// The archive with Node inside: built, unpacked, and run without any other Node. Needs
// `npm run build`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
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

  it('contains no package of the development', () => {
    const packages = readdirSync(join(signage, '../package/node_modules'));
    expect(packages).toContain('hono');
    for (const name of ['vitest', 'typescript', 'rolldown']) expect(packages).not.toContain(name);
  });
});
