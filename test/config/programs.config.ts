import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Benchmarks and the long forms of tests: run by hand, one after another, and they print what they find. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/bench/**/*.bench.ts', 'test/faults/**/*.full.ts'],
    globalSetup: ['test/support/postgres-setup.ts'],
    setupFiles: ['test/config/every-file.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 60 * 60_000,
    disableConsoleIntercept: true,
    reporters: ['default'],
  },
});
