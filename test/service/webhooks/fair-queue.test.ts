import { expect, it } from 'vitest';
import { FairQueue } from '../../../src/service/webhooks/fair-queue.ts';

/** Jobs that run until they are ended, and the order in which they began. */
function makeJobs(queue: FairQueue) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    add: (tenantId: string, name: string) =>
      queue.add(tenantId, () => {
        begun.push(name);
        return new Promise((resolve) => void ends.set(name, resolve));
      }),
    async end(name: string) {
      ends.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

it('lets tenants take turns', async () => {
  const jobs = makeJobs(new FairQueue({ total: 1, perTenant: 1 }));
  for (const name of ['a1', 'a2', 'a3']) jobs.add('a', name);
  jobs.add('b', 'b1');
  for (const name of ['a1', 'a2', 'b1']) await jobs.end(name);
  await jobs.end('b1');
  await jobs.end('a2');
  expect(jobs.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('leaves places to other tenants', async () => {
  const jobs = makeJobs(new FairQueue({ total: 3, perTenant: 2 }));
  for (const name of ['a1', 'a2', 'a3']) jobs.add('a', name);
  jobs.add('b', 'b1');
  expect(jobs.begun).toEqual(['a1', 'a2', 'b1']);
  await jobs.end('a1');
  expect(jobs.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});
