import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, listAt, textAt } from '../fixture/answer.ts';
import { type ConformanceCheck, checkGroup, profile, required } from '../fixture/check.ts';
import { heartbeat, heartbeats, impression } from '../fixture/content.ts';
import type { Fixture } from '../fixture/fixture.ts';

/** Sends one batch from the shared TV. */
const postBatch = async (fixture: Fixture, body: unknown, headers: Record<string, string> = {}) =>
  (await fixture.tv()).send('POST', 'events', { body, headers });
const postRaw = async (fixture: Fixture, text: string, headers: Record<string, string> = {}) =>
  (await fixture.tv()).send('POST', 'events', { raw: text, headers });
/** Returns `received` of a 202 response. Returns any other response unchanged. */
const received = (answer: Answer) =>
  answer.status === 202 ? JSON.stringify(at(answer.json, 'received')) : answer;
/** Sends a batch of heartbeats that no other check sends. */
const postHeartbeats = (fixture: Fixture, count: number, headers?: Record<string, string>) =>
  postBatch(fixture, heartbeats(count, fixture.uniqueTimestamp()), headers);
const newKey = (fixture: Fixture) => ({ 'idempotency-key': fixture.idempotencyKey() });
/** Counts the stored events with this timestamp. */
const countStored = async (fixture: Fixture, timestamp: number) =>
  (await fixture.stored(await fixture.tv(), timestamp)).length;

/** Checks of accepted, rejected and stored events (docs/protocol.md §2.5). */
export const eventChecks: readonly ConformanceCheck[] = checkGroup(
  { id: 'events', subject: 'POST /devices/:id/events', section: '2.5' },
  [
    required('202', '202 for an impression').expects('202', (fixture) =>
      postBatch(fixture, [impression(fixture.uniqueTimestamp())]),
    ),
    required('202.1', '202 for 1 event').expects('202', (fixture) => postHeartbeats(fixture, 1)),
    required('202.100', '202 for 100 events').expects('202', (fixture) =>
      postHeartbeats(fixture, 100),
    ),
    required('received.1', 'received is the count of 1 event').expects('1', async (fixture) =>
      received(await postBatch(fixture, [impression(fixture.uniqueTimestamp())])),
    ),
    required('received.3', 'received is the count of 3 events').expects('3', async (fixture) =>
      received(await postHeartbeats(fixture, 3)),
    ),
    required('received.100', 'received is the count of 100 events').expects(
      '100',
      async (fixture) => received(await postHeartbeats(fixture, 100)),
    ),
    required('400.0', '400 for no events').expects('400', (fixture) => postBatch(fixture, [])),
    required('400.101', '400 for 101 events').expects('400', (fixture) =>
      postHeartbeats(fixture, 101),
    ),
    required('400.object', '400 for an event outside an array').expects('400', (fixture) =>
      postBatch(fixture, impression(fixture.uniqueTimestamp())),
    ),
    required('400.no-object', '400 for an array of non-objects').expects('400', (fixture) =>
      postBatch(fixture, [1]),
    ),
    required('400.no-type', '400 for an event without a type').expects('400', (fixture) =>
      postBatch(fixture, [{ timestamp: fixture.uniqueTimestamp() }]),
    ),
    profile('400.0.code', 'invalid_request at the body for no events').expects(
      '400 invalid_request at the body',
      (fixture) => postBatch(fixture, []),
    ),
    profile('400.101.code', 'invalid_request at the body for 101 events').expects(
      '400 invalid_request at the body',
      (fixture) => postHeartbeats(fixture, 101),
    ),
    profile('400.path', 'errors name the index of the event').expects(
      '400 invalid_request at /1/timestamp, /2/type',
      (fixture) =>
        postBatch(fixture, [
          heartbeat(fixture.uniqueTimestamp()),
          { type: 'heartbeat', timestamp: 'now' },
          { type: 'Heart Beat', timestamp: 1 },
        ]),
    ),
    profile('400.impression', 'an impression needs playlistId, creativeId and campaignId').expects(
      '400 invalid_request at /0/campaignId, /0/creativeId, /0/playlistId',
      (fixture) =>
        postBatch(fixture, [{ type: 'impression', timestamp: fixture.uniqueTimestamp() }]),
    ),
    profile('400.timestamp', 'a timestamp is a non-negative integer').expects(
      '400 invalid_request at /0/timestamp, /1/timestamp',
      (fixture) => postBatch(fixture, [heartbeat(1.5), heartbeat(-1)]),
    ),
    profile('400.each', 'each of many invalid events is named once').expects(
      '100 errors, each of another event',
      async (fixture) => {
        const { json } = await postBatch(
          fixture,
          Array.from({ length: 100 }, () => ({ type: 'impression', timestamp: -1 })),
        );
        const places = listAt(json, 'errors').map((error) => textAt(error, 'path').split('/')[1]);
        const areDistinct = new Set(places).size === places.length;
        return [
          `${places.length} errors`,
          areDistinct ? 'each of another event' : 'some of the same event',
        ];
      },
    ),
    profile('400.none-stored', 'nothing of a rejected batch is stored').expects(
      '0',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        await postBatch(fixture, [heartbeat(timestamp), { type: 'heartbeat' }]);
        return countStored(fixture, timestamp);
      },
    ),
    profile('types', 'unknown event types are accepted').expects('202', (fixture) =>
      postBatch(fixture, [heartbeat(fixture.uniqueTimestamp(), { type: 'acme.screen_on-2' })]),
    ),
    profile('ids', 'UUIDs of any version and case are accepted').expects('202', (fixture) =>
      postBatch(fixture, [
        impression(fixture.uniqueTimestamp(), {
          playlistId: '00000000-0000-0000-0000-00000000ABCD',
        }),
      ]),
    ),
    profile('milliseconds', 'a timestamp may be in milliseconds').expects('202', (fixture) =>
      postBatch(fixture, [heartbeat(1_760_000_000_123)]),
    ),
    profile('clock', 'timestamps far in the past and future are accepted').expects(
      '202',
      (fixture) => postBatch(fixture, [heartbeat(0), heartbeat(Number.MAX_SAFE_INTEGER)]),
    ),
    profile('8-kib', 'an event may have at most 8,192 bytes').expects(
      '202, 400 invalid_request',
      async (fixture) => {
        const empty = JSON.stringify(heartbeat(fixture.uniqueTimestamp(), { text: '' })).length;
        const ofSize = (bytes: number) => [
          heartbeat(fixture.uniqueTimestamp(), { text: 'x'.repeat(bytes - empty) }),
        ];
        return [await postBatch(fixture, ofSize(8192)), await postBatch(fixture, ofSize(8193))];
      },
    ),
    profile('413', '413 for more than 1 MiB').expects('413 body_too_large', (fixture) =>
      postRaw(fixture, ' '.repeat(1024 * 1024 + 1), { 'content-type': 'application/json' }),
    ),
    profile('415', '415 for another Content-Type, and for a compressed body').expects(
      '415 unsupported_media_type, 415 unsupported_media_type',
      async (fixture) => {
        const text = JSON.stringify(heartbeats(1, fixture.uniqueTimestamp()));
        return [
          await postRaw(fixture, text, { 'content-type': 'text/plain' }),
          await postBatch(fixture, [], { 'content-encoding': 'gzip' }),
        ];
      },
    ),
    profile('content-type', 'a Content-Type ending in +json is accepted, and so is none').expects(
      '202, 202',
      async (fixture) => {
        const text = JSON.stringify(heartbeats(1, fixture.uniqueTimestamp()));
        return [
          await postRaw(fixture, text, { 'content-type': 'application/vnd.acme+json' }),
          await postRaw(fixture, text),
        ];
      },
    ),
    profile(
      '400.json',
      '400 invalid_json for malformed, empty and too deeply nested bodies',
    ).expects('400 invalid_json, 400 invalid_json, 400 invalid_json', async (fixture) => {
      const deep = `[{"type":"x","timestamp":1,"deep":${'['.repeat(65)}${']'.repeat(65)}}]`;
      return [
        await postRaw(fixture, '[{'),
        await postRaw(fixture, ''),
        await postRaw(fixture, deep),
      ];
    }),
    profile('stored', 'GET /v1/events lists accepted events unchanged').expects(
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
    profile('stored.all', 'all concurrent batches are stored').expects('12', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      await Promise.all([1, 2, 3, 4].map(() => postBatch(fixture, heartbeats(3, timestamp))));
      return countStored(fixture, timestamp);
    }),
    profile(
      'key',
      'the same bytes with the same Idempotency-Key are 202 again, and stored once',
    ).expects('202, 202, 1 stored', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      const key = newKey(fixture);
      const answers = [
        await postBatch(fixture, heartbeats(1, timestamp), key),
        await postBatch(fixture, heartbeats(1, timestamp), key),
      ];
      return [...answers, `${await countStored(fixture, timestamp)} stored`];
    }),
    profile('key.received', 'a repeat returns the same count').expects('3, 3', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      const key = newKey(fixture);
      return [
        await postBatch(fixture, heartbeats(3, timestamp), key),
        await postBatch(fixture, heartbeats(3, timestamp), key),
      ].map(received);
    }),
    profile('key.at-once', 'concurrent repeats are stored once').expects(
      '1 stored',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        const key = newKey(fixture);
        await Promise.all([1, 2, 3].map(() => postBatch(fixture, heartbeats(1, timestamp), key)));
        return `${await countStored(fixture, timestamp)} stored`;
      },
    ),
    profile('key.later', 'a key is remembered while other keys are used').expects(
      '1 stored',
      async (fixture) => {
        const timestamp = fixture.uniqueTimestamp();
        const key = newKey(fixture);
        await postBatch(fixture, heartbeats(1, timestamp), key);
        for (let other = 0; other < 10; other++)
          await postBatch(fixture, heartbeats(1, 1), newKey(fixture));
        await postBatch(fixture, heartbeats(1, timestamp), key);
        return `${await countStored(fixture, timestamp)} stored`;
      },
    ),
    profile(
      'key.reused',
      'the same key with other bytes is 400 idempotency_key_reused, and nothing is stored',
    ).expects('400 idempotency_key_reused, 0 stored', async (fixture) => {
      const timestamp = fixture.uniqueTimestamp();
      const key = newKey(fixture);
      await postHeartbeats(fixture, 1, key);
      const answer = await postBatch(fixture, heartbeats(1, timestamp), key);
      return [answer, `${await countStored(fixture, timestamp)} stored`];
    }),
    profile('key.refused', 'a rejected batch does not use up its key').expects(
      '400 invalid_request, 202',
      async (fixture) => {
        const key = newKey(fixture);
        return [
          await postBatch(fixture, [{ type: 'heartbeat' }], key),
          await postHeartbeats(fixture, 1, key),
        ];
      },
    ),
    profile('key.own', 'each TV has its own Idempotency-Keys').expects(
      '202, 202',
      async (fixture) => {
        const key = newKey(fixture);
        const first = await postHeartbeats(fixture, 1, key);
        const sent = { body: heartbeats(2, fixture.uniqueTimestamp()), headers: key };
        return [first, await (await fixture.plainTv()).send('POST', 'events', sent)];
      },
    ),
    profile('key.form', 'an Idempotency-Key of 256 characters is 400').expects(
      '400 invalid_request at header.idempotency-key',
      (fixture) => postHeartbeats(fixture, 1, { 'idempotency-key': 'x'.repeat(256) }),
    ),
    profile('seq', 'the device has lastSeq, missingEvents and conflictingEvents').expects(
      '7 4 1',
      async (fixture) => {
        const tv = await fixture.newTv();
        const send = (...seqs: number[]) =>
          tv.send('POST', 'events', {
            body: seqs.map((seq) => heartbeat(fixture.uniqueTimestamp(), { seq })),
          });
        await send(1, 2);
        await send(2, 7);
        const device = await fixture.device(tv.deviceId);
        const members = ['lastSeq', 'missingEvents', 'conflictingEvents'];
        return members.map((name) => at(device, name)).join(' ');
      },
    ),
    profile('seq.wrong', 'a seq that is not a positive integer is accepted').expects(
      '202',
      (fixture) => postBatch(fixture, [heartbeat(fixture.uniqueTimestamp(), { seq: 'one' })]),
    ),
    profile('no-key', 'without an Idempotency-Key, every repeat of a batch is stored').expects(
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
