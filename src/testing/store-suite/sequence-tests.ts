import assert from 'node:assert/strict';
import { batchOf, everything, guid, log } from './sample-batch.ts';
import type { TestGroup } from './store-test.ts';

/** Tests of sequence numbers and of the TV's clock (docs/protocol.md §2.5). */
export function sequenceTests({ it, store, reopen }: TestGroup): void {
  const deviceId = guid('devi', 1);
  const send = (seqs: readonly unknown[], key?: string) =>
    store.appendBatch(
      batchOf(
        seqs.map((seq, n) => ({ ...log(n), seq })),
        key === undefined ? {} : { key },
      ),
    );
  const told = async () => {
    const { lastSeq, missingEvents, conflictingEvents } = await store.marks('device', deviceId);
    return [lastSeq, missingEvents, conflictingEvents];
  };

  it('have no statistics for a device that sends none', async () => {
    await send([undefined, 0, -1, 1.5, '1', null, 2 ** 53, {}]);
    assert.deepEqual(await told(), [undefined, undefined, undefined]);
  });

  it('count missing numbers until they arrive, in any order, across restarts', async () => {
    await send([1, 2, 3]);
    assert.deepEqual(await told(), [3, 0, 0]);
    await send([10, 11]);
    await send([6, undefined, 5]);
    assert.deepEqual(await told(), [11, 4, 0]);
    await reopen();
    assert.deepEqual(await told(), [11, 4, 0]);
    await send([4]);
    await send([7, 8, 9]);
    assert.deepEqual(await told(), [11, 0, 0]);
    await reopen();
    assert.deepEqual(await told(), [11, 0, 0]);
  });

  it('count numbers that arrive in another batch, but no repeated batch', async () => {
    await send([1, 2, 3], 'one');
    assert.equal(await send([1, 2, 3], 'one'), 'repeated');
    assert.deepEqual(await told(), [3, 0, 0]);
    await send([2, 3, 4, 5], 'two');
    assert.deepEqual(await told(), [5, 0, 2]);
    await send([7, 7]);
    assert.deepEqual(await told(), [7, 1, 3]);
  });

  it('may be any positive integers, including the largest', async () => {
    await send([2 ** 53 - 1]);
    await send([1]);
    assert.deepEqual(await told(), [2 ** 53 - 1, 2 ** 53 - 3, 0]);
  });

  it('count the gaps below the highest 100 ranges as missing permanently', async () => {
    const odd = Array.from({ length: 100 }, (_, n) => 2 * n + 1);
    await send(odd);
    assert.deepEqual(await told(), [199, 99, 0]);
    await send([201, 203]);
    assert.deepEqual(await told(), [203, 101, 0]);
    // 2 lies within the permanent gaps, and 198 above them.
    await send([2, 198]);
    assert.deepEqual(await told(), [203, 100, 0]);
    await reopen();
    await send([1, 3, 203]);
    assert.deepEqual(await told(), [203, 100, 1]);
  });

  it('are counted for each device, and for concurrent batches', async () => {
    const other = batchOf([{ ...log(1), seq: 7 }], { deviceId: guid('devi', 2) });
    await store.appendBatch(other);
    await Promise.all(Array.from({ length: 30 }, (_, n) => send([2 * n + 1, 2 * n + 2])));
    assert.deepEqual(await told(), [60, 0, 0]);
    assert.equal((await store.marks('device', guid('devi', 2))).missingEvents, 6);
  });

  it("are stored with the offset of the TV's clock", async () => {
    await store.appendBatch(batchOf([log(1)]));
    await store.appendBatch({ ...batchOf([log(2)]), deviceTime: 0 });
    await reopen();
    const { items } = await store.events(everything());
    const [told = { receivedAt: 0 }] = items;
    assert.deepEqual(
      items.map(({ offsetMs }) => offsetMs),
      [told.receivedAt, null],
    );
  });
}
