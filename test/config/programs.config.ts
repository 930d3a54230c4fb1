import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { ChromiumReporter } from './chromium-reporter.ts';
import { FiguresReporter } from './figures-reporter.ts';
import { LongestFirst } from './longest-first.ts';

/**
 * Tests that measure time or have deadlines. Other tests at the same time would change the result.
 */
const timed = [
  'test/faults/cluster/cluster.full.ts',
  'test/faults/examination/hostile-files.full.ts',
  'test/faults/http/{floods,holds,hostile-connections,overload,slow-sockets}.full.ts',
];

/**
 * Runs the benchmarks and the full suites of the fault-injection tests, which are started by hand.
 * Tests that do not measure time run first, two at a time. The others run one after another.
 * Their output is printed again at the end.
 */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: ['test/support/postgres/postgres-setup.ts'],
    setupFiles: ['test/config/every-file.ts'],
    pool: 'forks',
    testTimeout: 60 * 60_000,
    // Some suites leave 10,000 folders, which go at the end of the file.
    hookTimeout: 10 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', new FiguresReporter(), new ChromiumReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'two at a time',
          include: ['test/faults/**/*.full.ts'],
          exclude: [...configDefaults.exclude, ...timed],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/bench/**/*.bench.ts', 'test/store/released/make-data.ts', ...timed],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
