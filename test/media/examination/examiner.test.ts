// The thread that examines media: its limits, and who waits for it.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WaitLimits } from '../../../src/domain/turns/fair-queue.ts';
import { Examiner } from '../../../src/media/examination/examiner.ts';
import { packagedProgram } from '../../../src/media/examination/examining-thread.ts';
import { headBytes } from '../../../src/media/examination/verdict.ts';
import { box, mp4Of } from '../../faults/examination/lying-videos.ts';

const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
const healthy = { head: svg, isWhole: true };

/** The thread never comes to an end of this file. No known file is like that. */
const endless = mp4Of([box('free', Buffer.from('endless'))]);

/** The program of the package, with that defect. It reads before, to show that it has begun. */
const program = () => `
  require('node:worker_threads').parentPort.on('message', function ({ kind, head }) {
    if (kind !== 'examine' || !Buffer.from(head).includes('endless')) return;
    this.postMessage({ kind: 'read', id: 0, start: 0, end: 1 });
    for (;;);
  });
  ${packagedProgram()}`;

const hostile = (reads: number[] = []) => ({
  head: endless,
  isWhole: true,
  source: {
    size: endless.length,
    async read(start: number, end: number) {
      reads.push(start);
      return endless.subarray(start, end);
    },
  },
});

function startExaminer(limits?: WaitLimits): Examiner {
  const examiner = new Examiner(limits, program);
  onTestFinished(() => examiner.close());
  return examiner;
}

/** Resolves when the thread works on the file, which it shows by reading it. */
const begun = (reads: readonly number[]) => expect.poll(() => reads.length).toBeGreaterThan(0);

describe('a file that takes too much', () => {
  it('is refused after 2 seconds, without work of this thread, and the next one is examined', async () => {
    const examiner = startExaminer();
    const before = performance.eventLoopUtilization();
    const { type, refusal } = await examiner.examine(hostile());
    expect(performance.eventLoopUtilization(before).active).toBeLessThan(500);
    expect({ type, refusal }).toEqual({
      type: undefined,
      refusal: expect.stringMatching(/too much time or memory.*Export it again/),
    });
    expect((await examiner.examine(healthy)).type).toBe('image/svg+xml');
  });

  it('ends at once when it is interrupted', async () => {
    const examiner = startExaminer();
    const stop = new AbortController();
    const reads: number[] = [];
    const verdict = examiner.examine(hostile(reads), { signal: stop.signal });
    await begun(reads);
    const start = performance.now();
    stop.abort();
    await expect(verdict).rejects.toMatchObject({ code: 'interrupted' });
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('files that wait', () => {
  it('are examined in turns of their owners', async () => {
    const examiner = startExaminer();
    const reads: number[] = [];
    const order: string[] = [];
    const examine = async (owner: string, name: string) => {
      await examiner.examine(healthy, { owner });
      order.push(name);
    };
    const first = examiner.examine(hostile(reads), { owner: 'a' });
    await begun(reads);
    const rest = [examine('a', 'a1'), examine('a', 'a2'), examine('a', 'a3'), examine('b', 'b1')];
    await Promise.all([first, ...rest]);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('get 503 if too many wait, or for too long', async () => {
    const examiner = startExaminer({ waitingOfGroup: 1, waiting: 2, waitMs: 100 });
    const reads: number[] = [];
    const first = examiner.examine(hostile(reads), { owner: 'a' });
    await begun(reads);
    const waiting = ['a', 'b'].map((owner) => examiner.examine(healthy, { owner }));
    const refused = { code: 'unavailable', retryAfterSeconds: 5 };
    await expect(examiner.examine(healthy, { owner: 'a' })).rejects.toMatchObject(refused);
    await expect(examiner.examine(healthy, { owner: 'c' })).rejects.toMatchObject(refused);
    for (const one of waiting) await expect(one).rejects.toMatchObject(refused);
    expect((await first).type).toBeUndefined();
    expect((await examiner.examine(healthy, { owner: 'a' })).type).toBe('image/svg+xml');
  });

  it('end when the examiner is closed', async () => {
    const examiner = startExaminer();
    const reads: number[] = [];
    const all = [examiner.examine(hostile(reads)), examiner.examine(healthy)];
    await begun(reads);
    const ended = Promise.allSettled(all);
    await examiner.close();
    for (const one of await ended)
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
  });
});

describe('a file', () => {
  it('is judged by its first 64 KiB', async () => {
    const head = Buffer.concat([svg, Buffer.alloc(headBytes, '\n'), Buffer.from('<')]);
    expect((await startExaminer().examine({ head, isWhole: true })).type).toBe('image/svg+xml');
  });

  it('that cannot be read is not judged behind its first bytes', async () => {
    const read = () => Promise.reject(new Error('gone'));
    const head = mp4Of([]);
    const file = { head, isWhole: true, source: { size: head.length, read } };
    expect(await startExaminer().examine(file)).toMatchObject({
      type: 'video/mp4',
      duration: undefined,
      findings: [],
    });
  });
});
