import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ChromiumReporter } from './chromium-reporter.ts';

const covered = { lines: 95, branches: 95 };

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    setupFiles: ['test/config/every-file.ts'],
    pool: 'forks',
    // Loading the code again for each file took longer than the tests.
    isolate: false,
    maxWorkers: 4,
    // High limits, because the machine may be busy. No test waits for real time to pass.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', new ChromiumReporter()],
    coverage: {
      provider: 'v8',
      include: ['src/service/**/*.ts', 'src/store/**/*.ts'],
      reporter: ['text-summary', 'html'],
      // Checked only with --coverage.
      thresholds: { 'src/service/**/*.ts': covered, 'src/store/**/*.ts': covered },
    },
  },
});
