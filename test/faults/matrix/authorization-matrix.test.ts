// A sample of operations, kinds of callers and records. The full suite is
// authorization-matrix.full.ts.
import { expect, it } from 'vitest';
import { openStore } from '../../../src/store/location/open.ts';
import { type Assembled, assembled } from '../../support/process/assembled.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { runAssignments } from './run-assignments.ts';
import { runMatrix } from './run-matrix.ts';

async function inMemory<T>(work: (service: Assembled) => Promise<T>): Promise<T> {
  const clock = new ManualClock();
  const store = await openStore('memory:', { clock });
  try {
    return await work(await assembled(store, clock));
  } finally {
    await store.close();
  }
}

it('allows exactly the documented callers, and refusals reveal and change nothing', async () => {
  const { cells, opened, wrong } = await inMemory((service) => runMatrix(service, { oneOf: 9 }));
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(1500);
  expect(opened).toBeGreaterThan(100);
}, 60_000);

it('shows no member of a hidden record in views that join several', async () => {
  const only = [
    'explainScreen',
    'listScreenStatus',
    'reportImpressions',
    'listAudit',
    'listNotices',
  ];
  const { cells, wrong } = await inMemory((service) => runMatrix(service, { only }));
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(500);
}, 60_000);

it('ignores or rejects members that the caller may not set', async () => {
  const { cells, wrong } = await inMemory((service) => runAssignments(service));
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(150);
}, 60_000);
