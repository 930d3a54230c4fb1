// Proves that the tests of the web player detect defects: each seeded one must fail its test.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, needsChromium } from '../../support/browser/chromium.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { checkout } from '../../support/process/signage-process.ts';

/** A defect, seeded in a copy of the source of the web player. */
interface PlayerDefect {
  /** File below src. */
  file: string;
  /** Text of the source, and what replaces it. */
  from: string;
  to: string;
  /** The test that must fail, by its file below test/e2e/web and a part of its name. */
  test: [file: string, name: string];
}

const defects: Record<string, PlayerDefect> = JSON.parse(
  readFileSync(new URL('../../fixtures/player-defects.json', import.meta.url), 'utf8'),
);
const tests = new Map(Object.values(defects).map(({ test }) => [test.join(': '), test]));

const run = promisify(execFile);
const leftOut = ['.git', 'coverage', 'dist', 'node_modules'];

describe.skipIf(!chromiumPath)(`the tests of the web player${needsChromium}`, () => {
  let copy: string;

  /** Builds the copy, and returns whether the test passes. Throws if there is no such test. */
  async function passes([file, name]: PlayerDefect['test']): Promise<boolean> {
    const bundle = join(copy, 'scripts/bundle-web.js');
    const build = `import { bundleWeb } from ${JSON.stringify(bundle)}; await bundleWeb('dist/web');`;
    await rm(join(copy, 'dist/web'), { recursive: true, force: true });
    await run(process.execPath, ['--input-type=module', '--eval', build], { cwd: copy });
    const argv = ['run', '--config', 'test/config/vitest.config.ts', '--maxWorkers=1'];
    const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
    const path = `test/e2e/web/${file}.test.ts`;
    const results = join(copy, 'results.json');
    await rm(results, { force: true });
    const report = ['--reporter=json', `--outputFile=${results}`];
    await run(process.execPath, [vitest, ...argv, ...report, path, '-t', name], {
      cwd: copy,
    }).catch(() => {});
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(results, 'utf8'));
    // Vitest succeeds if no test has the name.
    expect(numPassedTests + numFailedTests, `tests named "${name}"`).toBeGreaterThan(0);
    return numFailedTests === 0;
  }

  beforeAll(async () => {
    copy = join(await temporaryFolder(), 'copy');
    await cp(checkout, copy, {
      recursive: true,
      filter: (path) => !leftOut.includes(relative(checkout, path)),
    });
    await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'));
    await cp(join(checkout, 'dist'), join(copy, 'dist'), { recursive: true });
  });

  it.each([...tests])('pass without a defect: %s', async (_, test) => {
    expect(await passes(test)).toBe(true);
  });

  it.each(Object.entries(defects))('find: %s', async (_, { file, from, to, test }) => {
    const path = join(copy, 'src', file);
    const original = await readFile(path, 'utf8');
    expect(original.split(from)).toHaveLength(2);
    await writeFile(path, original.replace(from, to));
    try {
      expect(await passes(test)).toBe(false);
    } finally {
      await writeFile(path, original);
    }
  });
});
