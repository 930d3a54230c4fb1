import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const covered = { lines: 95, branches: 95 };

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    setupFiles: ['test/config/every-file.ts'],
    pool: 'forks',
    // Loading the code anew for each file took more time than the tests did.
    isolate: false,
    maxWorkers: 2,
    // Machines that run these have other work, too; nothing in them waits for time to pass, nor takes this long where all is well.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default'],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
      // Checked only in a run with --coverage.
      thresholds: { 'src/service/**/*.ts': covered, 'src/store/**/*.ts': covered },
    },
  },
});
