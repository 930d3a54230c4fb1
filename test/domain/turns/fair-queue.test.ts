import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../src/domain/turns/fair-queue.ts';

/** Jobs that run until they are ended, and the order in which they began. */
function makeJobs(queue: FairQueue) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    add: (group: string, name: string) =>
      queue.add(group, () => {
        begun.push(name);
        return new Promise((resolve) => void ends.set(name, resolve));
      }),
    async end(name: string) {
      ends.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

it('lets groups take turns', async () => {
  const jobs = makeJobs(new FairQueue({ total: 1, perGroup: 1 }));
  for (const name of ['a1', 'a2', 'a3']) jobs.add('a', name);
  jobs.add('b', 'b1');
  for (const name of ['a1', 'a2', 'b1']) await jobs.end(name);
  await jobs.end('b1');
  await jobs.end('a2');
  expect(jobs.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('leaves places to other groups', async () => {
  const jobs = makeJobs(new FairQueue({ total: 3, perGroup: 2 }));
  for (const name of ['a1', 'a2', 'a3']) jobs.add('a', name);
  jobs.add('b', 'b1');
  expect(jobs.begun).toEqual(['a1', 'a2', 'b1']);
  await jobs.end('a1');
  expect(jobs.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

describe('enter', () => {
  const busy = () => new Error('busy');
  const names = (all: PromiseSettledResult<unknown>[]) =>
    all.map((one) => (one.status === 'rejected' ? String(one.reason) : 'entered'));

  it('takes turns with jobs and other callers, and frees the place once', async () => {
    const queue = new FairQueue({ total: 1, perGroup: 1 });
    const jobs = makeJobs(queue);
    const leave = await queue.enter('a', { busy });
    jobs.add('a', 'a1');
    const other = queue.enter('b', { busy });
    leave();
    await new Promise(setImmediate);
    leave();
    expect(jobs.begun).toEqual(['a1']);
    jobs.add('a', 'a2');
    await jobs.end('a1');
    const leaveOther = await other;
    leave();
    expect(jobs.begun).toEqual(['a1']);
    leaveOther();
    await new Promise(setImmediate);
    expect(jobs.begun).toEqual(['a1', 'a2']);
  });

  it('refuses who comes beyond the limits, or waits for too long, and nobody for whom a place is free', async () => {
    const queue = new FairQueue({ total: 2, perGroup: 1 });
    const enter = (group: string, waitMs?: number) =>
      queue.enter(group, { waitingOfGroup: 1, waiting: 2, busy, ...(waitMs && { waitMs }) });
    const leave = await enter('a');
    const waiting = enter('a', 20);
    await expect(enter('a')).rejects.toThrow('busy');
    await enter('b');
    const stays = enter('b');
    await expect(enter('c')).rejects.toThrow('busy');
    await expect(waiting).rejects.toThrow('busy');
    leave();
    await enter('c');
    void queue.clear(new Error('closed'));
    await expect(stays).rejects.toThrow('closed');
  });

  it('ends with its signal', async () => {
    const queue = new FairQueue({ total: 1, perGroup: 1 });
    const leave = await queue.enter('a', { busy });
    const stop = new AbortController();
    const entered = [1, 2].map(() => queue.enter('a', { busy, signal: stop.signal }));
    const next = queue.enter('a', { busy });
    stop.abort('stopped');
    const late = queue.enter('a', { busy, signal: stop.signal });
    expect(names(await Promise.allSettled([...entered, late]))).toEqual(Array(3).fill('stopped'));
    leave();
    (await next)();
  });
});

it('runs 10,000 waiting jobs of a group without going through all of them for each', async () => {
  const queue = new FairQueue({ total: 1, perGroup: 1 });
  let ran = 0;
  const start = performance.now();
  for (let n = 0; n < 10_000; n++) queue.add('a', async () => void ran++);
  while (ran < 10_000) await new Promise(setImmediate);
  // Two seconds with a copy of the list for each job.
  expect(performance.now() - start).toBeLessThan(500);
});
