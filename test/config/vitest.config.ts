import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const covered = { lines: 95, branches: 95 };

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // Benchmarks and long fault runs have their own commands; this is the quick form.
    exclude: ['test/bench/**', 'test/faults/**'],
    globalSetup: ['test/support/postgres-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
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
