// `npm run release`, into a folder of its own. Needs `npm run build`.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { checkout } from '../../support/process/signage-process.ts';

interface Sbom {
  bomFormat: string;
  metadata: { component: { name: string } };
  components: { name: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

describe('npm run release', () => {
  let folder: string;
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');

  beforeAll(async () => {
    folder = await temporaryFolder();
    writeFileSync(join(folder, 'signage'), 'the executable');
    const { status, stderr } = spawnSync(
      process.execPath,
      ['scripts/release/release.js', '--out', folder],
      { cwd: checkout, encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
  }, 120_000);

  it('lists the checksum of every file, also of the executable made before', () => {
    const expected = readdirSync(folder)
      .filter((file) => file !== 'SHA256SUMS')
      .sort()
      .map((file) => {
        const bytes = readFileSync(join(folder, file));
        return `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`;
      });
    expect(read('SHA256SUMS')).toBe(expected.join(''));
    expect(read('SHA256SUMS')).toMatch(/ {2}signage$/m);
    expect(read('SHA256SUMS')).toMatch(/ {2}signage-kit-[\d.]+\.tgz$/m);
  });

  it('lists the packages that are installed with it or in it, and no others', () => {
    const sbom = JSON.parse(read('sbom.cdx.json')) as Sbom;
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'signage-kit' } },
    });
    const options = ['ls', '--omit=dev', '--all', '--parseable'];
    const installed = execFileSync('npm', options, { cwd: checkout, encoding: 'utf8' })
      .split('\n')
      .flatMap((path) => /.*node_modules\/(.+)/.exec(path)?.[1] ?? []);
    const names = sbom.components.map(({ name }) => name);
    const inBundles = ['cli', 'examination'].flatMap((part) => {
      const texts = readFileSync(join(checkout, `dist/${part}/licenses.txt`), 'utf8');
      return [...texts.matchAll(/^(\S+) \d+\.\d+\.\d+\S*: /gm)].map(([, name = '']) => name);
    });
    expect(inBundles).toEqual(expect.arrayContaining(['mediabunny', 'saxes']));
    const shipped = new Set([...installed, ...inBundles, 'idb', 'swagger-ui-dist']);
    expect(names.toSorted()).toEqual([...shipped].sort());
    const own = sbom.dependencies.find(({ ref }) => ref.startsWith('signage-kit@'));
    expect(own?.dependsOn.map((ref) => ref.replace(/@[^@]+$/, ''))).toContain('pg');
  });

  it('says from which commit it was made, and what changed', () => {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: checkout, encoding: 'utf8' });
    expect(JSON.parse(read('provenance.json'))).toMatchObject({
      package: 'signage-kit',
      commit: commit.trim(),
      node: process.version,
      files: [expect.stringMatching(/^signage-kit-.*\.tgz$/)],
    });
    expect(read('CHANGES.md')).toMatch(/^## /);
    expect(read('CHANGES.md').match(/^## /gm)).toHaveLength(1);
  });
});
