// 100,000 mutated requests, most of them to the embedded store.
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type { ServeOptions } from '../../../src/serve/serve-options.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { runFuzz, withFuzzed } from './run-fuzz.ts';

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
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

it.each(parts)('$requests random requests: $name', async ({ name, requests: wanted, options }) => {
  const startedAt = performance.now();
  const { requests, statuses, kinds, wrong } = await withFuzzed(await options(), (subject) =>
    runFuzz({ ...subject, seed, requests: wanted }),
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const counts = [...statuses].toSorted().map(([status, count]) => `${status}: ${count}`);
  console.log(
    `fuzz, ${name}, seed ${seed}: ${requests} requests, ${kinds.size} kinds of answers, ${wrong.length} wrong (${seconds} s); ${counts.join(', ')}`,
  );
  for (const line of wrong.slice(0, 50)) console.log(`  ${line}`);
  expect(wrong.length).toBe(0);
});
