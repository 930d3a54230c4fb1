import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { ChromiumReporter } from './chromium-reporter.ts';
import { LongestFirst } from './longest-first.ts';

const covered = { lines: 95, branches: 95 };

/**
 * Whole programs, browsers, pseudo-terminals, packaging and fault injection: `npm run test:rest`.
 */
const rest = ['test/e2e/**/*.test.ts', 'test/faults/**/*.test.ts'];

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: ['test/support/postgres/postgres-setup.ts'],
    setupFiles: ['test/config/every-file.ts'],
    pool: 'forks',
    // Loading the code again for each file took longer than the tests.
    isolate: false,
    maxWorkers: 3,
    // High limits, because the machine may be busy. No test waits for real time to pass.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', new ChromiumReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...rest],
        },
      },
      { extends: true, test: { name: 'rest', include: rest } },
    ],
    coverage: {
      // `.ci/run` sets it: only the quick tests count.
      enabled: process.env.COVERAGE === '1',
      provider: 'v8',
      include: ['src/service/**/*.ts', 'src/store/**/*.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { 'src/service/**/*.ts': covered, 'src/store/**/*.ts': covered },
    },
  },
});
