import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { checkout, endProcesses, startProcess } from './signage-process.ts';

afterEach(endProcesses);

/** Runs test files without a Chromium. */
async function runWithout(...files: readonly string[]): Promise<string> {
  const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
  const argv = [vitest, 'run', '--config', 'test/config/vitest.config.ts', ...files];
  const run = startProcess(argv, { env: { CHROMIUM: '', NO_COLOR: '1' } });
  expect(await run.ended, run.err()).toBe(0);
  return run.out();
}

it('a run without Chromium names the files of the web player that did not run', async () => {
  const web = 'test/e2e/web/offline.test.ts';
  const said = await runWithout(web, 'test/domain/csv.test.ts');
  expect(said.trimEnd().split('\n').at(-1)).toBe(
    `No Chromium found: the tests of the web player did not run (${web}). Set CHROMIUM=/path/to/chromium.`,
  );
});

it('a run without files of the web player says nothing about Chromium', async () => {
  expect(await runWithout('test/domain/csv.test.ts')).not.toContain('Chromium');
});
