import { expect, it, vi } from 'vitest';
import type { TestModule } from 'vitest/node';
import { ChromiumReporter, chromiumReason } from '../../config/chromium-reporter.ts';

/** A test file with one suite of this name. */
const moduleOf = (relativeModuleId: string, suite: string) =>
  ({ relativeModuleId, children: { allSuites: () => [{ name: suite }] } }) as unknown as TestModule;

/** Returns what the reporter writes at the end of a run. */
function reportOn(...modules: TestModule[]): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    new ChromiumReporter().onTestRunEnd(modules);
    return write.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    write.mockRestore();
  }
}

const other = moduleOf('test/domain/csv.test.ts', 'csv');

it('a run without Chromium names the files with browsers that did not run', () => {
  const web = moduleOf('test/e2e/web/offline.test.ts', `the web player (${chromiumReason})`);
  expect(reportOn(web, other)).toBe(
    '\nNo Chromium found: the tests in browsers did not run (test/e2e/web/offline.test.ts). Set CHROMIUM=/path/to/chromium.\n',
  );
});

it('a run without files with browsers says nothing about Chromium', () => {
  expect(reportOn(other)).toBe('');
});
