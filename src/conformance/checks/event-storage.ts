import { isDeepStrictEqual } from 'node:util';
import { at } from '../answer.ts';
import { type Check, checkGroup, profile } from '../check.ts';
import { heartbeats, impression } from '../content.ts';
import { countStored, postBatch, received } from './events.ts';

/** Checks of stored events and their idempotency keys (docs/protocol.md §2.5). */
export const eventStorageChecks: readonly Check[] = checkGroup(
  { id: 'events', subject: 'POST /devices/:id/events', section: '2.5' },
  [
    profile(
      'stored',
      'GET /v1/events lists accepted events unchanged',
      'as sent',
      async (fixture) => {
        const event = impression(fixture.uniqueTimestamp(), {
          duration: 14.97,
          ours: { kept: [null, 'ä'] },
        });
        await postBatch(fixture, [event]);
        const [stored] = await fixture.stored(await fixture.tv(), at(event, 'timestamp') as number);
        return isDeepStrictEqual(stored, event) ? 'as sent' : (JSON.stringify(stored) ?? 'nothing');
      },
    ),
    profile('stored.all', 'all concurrent batches are stored', '12', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      await Promise.all([1, 2, 3, 4].map(() => postBatch(fixture, heartbeats(3, timestamp))));
      return countStored(fixture, timestamp);
    }),
    profile(
      'key',
      'the same bytes with the same Idempotency-Key are 202 again, and stored once',
      '202, 202, 1 stored',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        const answers = [
          await postBatch(fixture, heartbeats(1, timestamp), key),
          await postBatch(fixture, heartbeats(1, timestamp), key),
        ];
        return [...answers, `${await countStored(fixture, timestamp)} stored`];
      },
    ),
    profile('key.received', 'a repeat returns the same count', '3, 3', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      const key = { 'idempotency-key': fixture.idempotencyKey() };
      return [
        await postBatch(fixture, heartbeats(3, timestamp), key),
        await postBatch(fixture, heartbeats(3, timestamp), key),
      ].map(received);
    }),
    profile('key.at-once', 'concurrent repeats are stored once', '1 stored', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      const key = { 'idempotency-key': fixture.idempotencyKey() };
      await Promise.all([1, 2, 3].map(() => postBatch(fixture, heartbeats(1, timestamp), key)));
      return `${await countStored(fixture, timestamp)} stored`;
    }),
    profile(
      'key.later',
      'a key is remembered while other keys are used',
      '1 stored',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        await postBatch(fixture, heartbeats(1, timestamp), key);
        for (let other = 0; other < 10; other++)
          await postBatch(fixture, heartbeats(1, 1), {
            'idempotency-key': fixture.idempotencyKey(),
          });
        await postBatch(fixture, heartbeats(1, timestamp), key);
        return `${await countStored(fixture, timestamp)} stored`;
      },
    ),
    profile(
      'key.reused',
      'the same key with other bytes is 400 idempotency_key_reused, and nothing is stored',
      '400 idempotency_key_reused, 0 stored',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        await postBatch(fixture, heartbeats(1, fixture.uniqueTimestamp()), key);
        const answer = await postBatch(fixture, heartbeats(1, timestamp), key);
        return [answer, `${await countStored(fixture, timestamp)} stored`];
      },
    ),
    profile(
      'key.refused',
      'a rejected batch does not use up its key',
      '400 invalid_request, 202',
      async (fixture) => {
        const key = { 'idempotency-key': fixture.idempotencyKey() };
        return [
          await postBatch(fixture, [{ type: 'heartbeat' }], key),
          await postBatch(fixture, heartbeats(1, fixture.uniqueTimestamp()), key),
        ];
      },
    ),
    profile('key.own', 'each TV has its own Idempotency-Keys', '202, 202', async (fixture) => {
      const key = { 'idempotency-key': fixture.idempotencyKey() };
      const first = await postBatch(fixture, heartbeats(1, fixture.uniqueTimestamp()), key);
      return [
        first,
        await (await fixture.plainTv()).send('POST', 'events', {
          body: heartbeats(2, fixture.uniqueTimestamp()),
          headers: key,
        }),
      ];
    }),
    profile(
      'key.form',
      'an Idempotency-Key of 256 characters is 400',
      '400 invalid_request at header.idempotency-key',
      (fixture) =>
        postBatch(fixture, heartbeats(1, fixture.uniqueTimestamp()), {
          'idempotency-key': 'x'.repeat(256),
        }),
    ),
    profile(
      'no-key',
      'without a key every repeat of a batch is stored',
      '2 stored',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        for (const batch of [heartbeats(1, timestamp), heartbeats(1, timestamp)])
          await postBatch(fixture, batch);
        return `${await countStored(fixture, timestamp)} stored`;
      },
    ),
  ],
);
