import assert from 'node:assert/strict';
import { assertMatches } from './assert-matches.ts';
import { batchOf, everything, guid, log, numbers, tenantA } from './sample-batch.ts';
import type { TestGroup } from './store-test.ts';

/** Tests of `appendBatch`. */
export function appendBatchTests({ it, store, alsoAfterReopen }: TestGroup): void {
  it('returns stored, and keeps the events as sent', async () => {
    const body = Buffer.from(
      '[ {"timestamp":1760000000, "type":"log", "text":"ü \\u00fc", "big":1.50} ]',
    );
    const batch = { ...batchOf(JSON.parse(body.toString())), body };
    assert.equal(await store.appendBatch(batch), 'stored');
    const { items, next } = await store.events(everything());
    assert.equal(next, null);
    const [{ id, receivedAt } = { id: '', receivedAt: '' }] = items;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.equal(typeof receivedAt, 'number');
    assert.deepEqual(items, [
      {
        id,
        deviceId: guid('devi', 1),
        screenId: guid('scre', 1),
        venueId: guid('venu', 1),
        simulated: false,
        utcOffset: undefined,
        receivedAt,
        offsetMs: null,
        event: { timestamp: 1760000000, type: 'log', text: 'ü ü', big: 1.5 },
      },
    ]);
  });

  it('stores a batch without a key each time it is sent', async () => {
    for (let time = 0; time < 2; time++)
      assert.equal(await store.appendBatch(batchOf([log(1)])), 'stored');
    assert.equal((await store.events(everything())).items.length, 2);
  });

  it('returns repeated for the same key with the same bytes, and stores nothing', async () => {
    assert.equal(await store.appendBatch(batchOf([log(1)], { key: 'one' })), 'stored');
    assert.equal(await store.appendBatch(batchOf([log(1)], { key: 'one' })), 'repeated');
    assert.equal((await store.events(everything())).items.length, 1);
  });

  it('compares the bytes sent, not the stored events', async () => {
    await store.appendBatch(batchOf([log(1)], { key: 'one', sent: 'as sent' }));
    assert.equal(
      await store.appendBatch(batchOf([log(2)], { key: 'one', sent: 'as sent' })),
      'repeated',
    );
  });

  it('throws idempotency_key_reused for the same key with other bytes, and stores nothing', async () => {
    await store.appendBatch(batchOf([log(1)], { key: 'one' }));
    await assert.rejects(store.appendBatch(batchOf([log(2)], { key: 'one' })), {
      code: 'idempotency_key_reused',
    });
    assert.deepEqual(numbers((await store.events(everything())).items), [1]);
    assert.equal(await store.appendBatch(batchOf([log(1)], { key: 'one' })), 'repeated');
  });

  it('keeps the keys of each device separately', async () => {
    await store.appendBatch(batchOf([log(1)], { key: 'one' }));
    assert.equal(
      await store.appendBatch(batchOf([log(2)], { key: 'one', deviceId: guid('devi', 2) })),
      'stored',
    );
  });

  it('stores one of many concurrent batches with the same key', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => store.appendBatch(batchOf([log(1)], { key: 'one' }))),
    );
    assert.equal(answers.filter((answer) => answer === 'stored').length, 1);
    assert.equal(answers.filter((answer) => answer === 'repeated').length, 19);
    assert.equal((await store.events(everything())).items.length, 1);
  });

  it('stores one of two concurrent batches with the same key and different bytes', async () => {
    const answers = await Promise.allSettled(
      [1, 2].map((n) => store.appendBatch(batchOf([log(n)], { key: 'one' }))),
    );
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 1);
    assertMatches(
      answers.find(({ status }) => status === 'rejected'),
      {
        reason: { code: 'idempotency_key_reused' },
      },
    );
    assert.equal((await store.events(everything())).items.length, 1);
  });

  it('remembers the last 128 keys of a device, across restarts', async () => {
    for (let n = 0; n < 130; n++) await store.appendBatch(batchOf([log(n)], { key: `key ${n}` }));
    await alsoAfterReopen(async () => {
      for (const n of [2, 65, 129])
        assert.equal(await store.appendBatch(batchOf([log(n)], { key: `key ${n}` })), 'repeated');
    });
    assert.equal(await store.appendBatch(batchOf([log(1)], { key: 'key 1' })), 'stored');
    assert.equal(
      (await store.impressions({ tenantId: tenantA, groupBy: 'day', by: 'received' })).length,
      0,
    );
  });
}
