// What `npm pack` puts into the package. Needs `npm run build`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkout } from '../../support/signage-process.ts';

interface Pack {
  size: number;
  files: { path: string; size: number }[];
}

const maxBytes = 1.8e6;

describe('the package', () => {
  let pack: Pack;
  let paths: string[];
  beforeAll(() => {
    const options = ['--ignore-scripts', '--dry-run', '--json'];
    const report = execFileSync('npm', ['pack', ...options], { cwd: checkout, encoding: 'utf8' });
    [pack] = JSON.parse(report) as [Pack];
    paths = pack.files.map(({ path }) => path);
  }, 60_000);

  it('has these files and folders', () => {
    const places = new Set(paths.map((path) => path.match(/^(fixtures\/)?[^/]+/)?.[0]));
    expect([...places].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin',
      'dist',
      'docs',
      'fixtures/demo.json',
      'fixtures/devices',
      'fixtures/events',
      'fixtures/media',
      'fixtures/on-demand-source',
      'fixtures/playlists',
      'fixtures/scenarios',
      'fixtures/sites',
      'package.json',
    ]);
  });

  it('has the files that the program reads besides its code', () => {
    expect(paths).toEqual(
      expect.arrayContaining([
        'dist/http/docs/index.html',
        'dist/http/docs/swagger-ui-bundle.js',
        'dist/http/docs/swagger-ui.LICENSE.txt',
        'dist/store/postgres/migrations/0001-first.sql',
        'dist/web/idb.LICENSE.txt',
        'dist/web/index.html',
        'dist/web/sw.js',
      ]),
    );
  });

  it('has no source maps, and no references to them', () => {
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
    const modules = paths.filter(
      (path) => /^dist\/.*\.js$/.test(path) && !path.includes('swagger'),
    );
    const referring = modules.filter((path) =>
      readFileSync(join(checkout, path), 'utf8').includes('//# sourceMappingURL'),
    );
    expect(referring).toEqual([]);
  });

  it('has no module that nothing names', () => {
    const modules = paths.filter((path) => /^dist\/.*\.[jt]s$/.test(path));
    const texts = ['bin/signage.js', 'package.json', ...modules].map((path) => ({
      path,
      text: readFileSync(join(checkout, path), 'utf8'),
    }));
    const isNamed = (path: string) => {
      const name = basename(path).replace(/(\.d)?\.[jt]s$/, '');
      const others = texts.filter((one) => one.path !== path);
      return others.some(({ text }) => text.includes(`/${name}.`));
    };
    const page = /^dist\/(?:http\/docs|web)\//;
    expect(modules.filter((path) => !page.test(path) && !isNamed(path))).toEqual([]);
  });

  it(`is at most ${maxBytes / 1e6} MB`, () => {
    expect(pack.size).toBeLessThanOrEqual(maxBytes);
  });
});
