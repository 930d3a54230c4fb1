// 100,000 mutated requests, most of them to the embedded store, and each invalid value in each
// place.
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runCallers } from './run-callers.ts';
import { runFuzz } from './run-fuzz.ts';
import { runSweep } from './run-sweep.ts';
import { withFuzzed } from './with-fuzzed.ts';

interface Part {
  name: string;
  requests: number;
  options(): Promise<ServeOptions>;
}

const parts: Part[] = [
  { name: 'the embedded store', requests: 80_000, options: async () => ({}) },
  {
    name: 'the embedded store on a disk, with an object store, for web apps',
    requests: 10_000,
    options: async () => ({
      store: await temporaryFolder(),
      objectStore: pathToFileURL(await temporaryFolder()).href,
      corsOrigins: ['https://tv.example.com'],
    }),
  },
  { name: 'PostgreSQL', requests: 10_000, options: async () => ({ store: await freshDatabase() }) },
];

/** The seed is printed, so that any run can be repeated. */
const seed = process.env.FUZZ_SEED ?? String(Date.now());

function tell(what: string, wrong: readonly string[], startedAt: number): void {
  console.log(
    `${what}, seed ${seed}: ${wrong.length} wrong (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`,
  );
  for (const line of wrong.slice(0, 50)) console.log(`  ${line}`);
}

it.each(parts)('random requests: $name', async ({ name, requests: wanted, options }) => {
  const startedAt = performance.now();
  const own = await options();
  const { requests, statuses, kinds, wrong } = await withFuzzed(own, (subject) =>
    runFuzz({ ...subject, seed, requests: wanted }),
  );
  tell(`fuzz, ${name}: ${requests} requests, ${kinds} kinds of answers`, wrong, startedAt);
  const counts = [...statuses].toSorted().map(([status, count]) => `${status}: ${count}`);
  console.log(`  ${counts.join(', ')}`);
  expect(wrong.length).toBe(0);
});

it.each(parts)('each operation with each kind of credential: $name', async ({ name, options }) => {
  const startedAt = performance.now();
  const own = await options();
  const { requests, succeeded, wrong } = await withFuzzed(own, (subject) =>
    runCallers({ ...subject, seed, each: 25 }),
  );
  tell(`callers, ${name}: ${requests} requests, ${succeeded.size} operations`, wrong, startedAt);
  expect(wrong.length).toBe(0);
});

it.each(parts.filter((_, index) => index !== 1))(
  'each nasty thing in each place: $name',
  async ({ name, options }) => {
    const startedAt = performance.now();
    const own = await options();
    const { requests, wrong } = await withFuzzed(own, (subject) => runSweep({ ...subject, seed }));
    tell(`sweep, ${name}: ${requests} requests`, wrong, startedAt);
    expect(wrong.length).toBe(0);
  },
);
