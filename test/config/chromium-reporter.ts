import type { Reporter, TestModule } from 'vitest/node';

/** Part of the names of suites that are skipped without Chromium. */
export const chromiumReason = 'not run: needs Chromium';

/** Says at the end of the run which test files did not run because there is no Chromium. */
export class ChromiumReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.filter(({ children }) =>
      [...children.allSuites()].some(({ name }) => name.includes(chromiumReason)),
    );
    if (skipped.length === 0) return;
    const files = skipped.map(({ relativeModuleId }) => relativeModuleId).toSorted();
    process.stdout.write(
      `\nNo Chromium found: the tests in browsers did not run (${files.join(', ')}). Set CHROMIUM=/path/to/chromium.\n`,
    );
  }
}
