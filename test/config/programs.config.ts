import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { FiguresReporter } from './figures-reporter.ts';
import { LongestFirst } from './longest-first.ts';

/** Forms that measure time, or wait no longer than so long: they would measure what runs beside them. */
const timed = [
  'test/faults/cluster/cluster.full.ts',
  'test/faults/http/{floods,herd,hostile-connections,large-lists,overload,slow-sockets}.full.ts',
];

/**
 * Benchmarks and the full forms of the trials: run by hand, and they print what they find, and once more at the end. First come those that do not measure
 * time, two at a time, then all others, one after another.
 */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: ['test/support/postgres-setup.ts'],
    setupFiles: ['test/config/every-file.ts'],
    pool: 'forks',
    testTimeout: 60 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', new FiguresReporter()],
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
          include: ['test/bench/**/*.bench.ts', ...timed],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
