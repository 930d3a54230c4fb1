import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startServed } from './served.ts';
import { checkSoak, soak, soakTvs } from './soak.ts';

const requests = 1_000_000;
// V8 compiles code for half a minute. After 100,000 requests, another megabyte was still to come.
const warmUp = 300_000;
const tvCount = 200;
// The journal, and the day files of events and audit, which stay open after the first write.
const storeFiles = 3;
// Until idle connections are closed.
const leftMs = 8_000;

/** Splits descriptors into files of the store and others. */
function parted(open: readonly string[]): [files: string[], others: string[]] {
  return [
    open.filter((path) => path.startsWith(tmpdir())),
    open.filter((path) => !path.startsWith(tmpdir())),
  ];
}

it('memory and descriptors do not grow over a million requests', async () => {
  const served = await startServed();
  const atFirst = await served.usage();
  const tvs = await soakTvs(served, tvCount);
  await soak(served, tvs, warmUp);
  await sleep(leftMs);
  const before = await served.usage();
  const startedMs = performance.now();
  const soaked = await soak(served, tvs, requests);
  const tookSeconds = (performance.now() - startedMs) / 1000;
  await sleep(leftMs);
  const after = await served.usage();
  await served.stop();
  const growth = after.heapBytes / before.heapBytes - 1;
  const mb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  console.log(
    `${requests} requests in ${tookSeconds.toFixed(0)} s (${(requests / tookSeconds).toFixed(0)}/s, ${(((after.cpuMs - before.cpuMs) * 1000) / requests).toFixed(0)} µs CPU each): ` +
      `heap ${mb(before.heapBytes)} -> ${mb(after.heapBytes)} (${(growth * 100).toFixed(1)} %), resident ${mb(before.residentBytes)} -> ${mb(after.residentBytes)}, ` +
      `descriptors ${atFirst.open.length}, ${before.open.length} -> ${after.open.length}; ${JSON.stringify(soaked.counts)}`,
  );
  expect(checkSoak(soaked)).toEqual([]);
  expect(growth).toBeLessThan(0.05);
  const [files, others] = parted(after.open);
  expect(others.length, others.join('\n')).toBeLessThanOrEqual(parted(before.open)[1].length);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(storeFiles);
});
