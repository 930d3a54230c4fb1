import { isDeepStrictEqual } from 'node:util';
import { type Answer, at, listAt, said, saidAll, saidAt, status, textAt } from '../answer.ts';
import { about, type Check, profile, required } from '../check.ts';
import { heartbeat, heartbeats, impression } from '../content.ts';
import type { Fixture } from '../fixture.ts';

/** One batch of the TV that plays. */
const post = async (stage: Fixture, body: unknown, headers: Record<string, string> = {}) =>
  (await stage.tv()).send('POST', 'events', { body, headers });
const raw = async (stage: Fixture, text: string, headers: Record<string, string> = {}) =>
  (await stage.tv()).send('POST', 'events', { raw: text, headers });
const received = (answer: Answer) =>
  answer.status === 202 ? (JSON.stringify(at(answer.json, 'received')) ?? 'missing') : said(answer);
/** How many events of this moment are stored. */
const storedAt = async (stage: Fixture, moment: number) =>
  (await stage.stored(await stage.tv(), moment)).length;

const documented = about({ id: 'events', subject: 'POST /devices/:id/events', section: '2.5' }, [
  required('202', '202 for an impression', '202', async (stage) =>
    status(await post(stage, [impression(stage.moment())])),
  ),
  required('202.1', '202 for 1 event', '202', async (stage) =>
    status(await post(stage, heartbeats(1, stage.moment()))),
  ),
  required('202.100', '202 for 100 events', '202', async (stage) =>
    status(await post(stage, heartbeats(100, stage.moment()))),
  ),
  required('received.1', 'received is the count of 1 event', '1', async (stage) =>
    received(await post(stage, [impression(stage.moment())])),
  ),
  required('received.3', 'received is the count of 3 events', '3', async (stage) =>
    received(await post(stage, heartbeats(3, stage.moment()))),
  ),
  required('received.100', 'received is the count of 100 events', '100', async (stage) =>
    received(await post(stage, heartbeats(100, stage.moment()))),
  ),
  required('400.0', '400 for no events', '400', async (stage) => status(await post(stage, []))),
  required('400.101', '400 for 101 events', '400', async (stage) =>
    status(await post(stage, heartbeats(101, stage.moment()))),
  ),
  required('400.object', '400 for one event that is no array', '400', async (stage) =>
    status(await post(stage, impression(stage.moment()))),
  ),
  required('400.no-object', '400 for an array of what are no events', '400', async (stage) =>
    status(await post(stage, [1])),
  ),
  required('400.no-type', '400 for an event without a type', '400', async (stage) =>
    status(await post(stage, [{ timestamp: stage.moment() }])),
  ),
]);

const validation = about({ id: 'events', subject: 'POST /devices/:id/events', section: '2.5' }, [
  profile(
    '400.0.code',
    'invalid_request at the body for no events',
    '400 invalid_request at the body',
    async (stage) => saidAt(await post(stage, [])),
  ),
  profile(
    '400.101.code',
    'invalid_request at the body for 101 events',
    '400 invalid_request at the body',
    async (stage) => saidAt(await post(stage, heartbeats(101, stage.moment()))),
  ),
  profile(
    '400.path',
    'what is wrong is named by the place of its event',
    '400 invalid_request at /1/timestamp, /2/type',
    async (stage) =>
      saidAt(
        await post(stage, [
          heartbeat(stage.moment()),
          { type: 'heartbeat', timestamp: 'now' },
          { type: 'Heart Beat', timestamp: 1 },
        ]),
      ),
  ),
  profile(
    '400.impression',
    'an impression needs playlistId, creativeId and campaignId',
    '400 invalid_request at /0/campaignId, /0/creativeId, /0/playlistId',
    async (stage) => saidAt(await post(stage, [{ type: 'impression', timestamp: stage.moment() }])),
  ),
  profile(
    '400.timestamp',
    'a timestamp is a whole number from 0 on',
    '400 invalid_request at /0/timestamp, /1/timestamp',
    async (stage) => saidAt(await post(stage, [heartbeat(1.5), heartbeat(-1)])),
  ),
  profile(
    '400.each',
    'of many wrong events each is named, once',
    '100 errors, each of another event',
    async (stage) => {
      const { json } = await post(
        stage,
        Array.from({ length: 100 }, () => ({ type: 'impression', timestamp: -1 })),
      );
      const places = listAt(json, 'errors').map((error) => textAt(error, 'path').split('/')[1]);
      return `${places.length} errors, ${new Set(places).size === places.length ? 'each of another event' : 'some of the same event'}`;
    },
  ),
  profile('400.none-stored', 'of a batch that is refused nothing is stored', '0', async (stage) => {
    const moment = stage.moment();
    await post(stage, [heartbeat(moment), { type: 'heartbeat' }]);
    return String(await storedAt(stage, moment));
  }),
  profile('types', 'the vocabulary of types is open', '202', async (stage) =>
    said(await post(stage, [heartbeat(stage.moment(), { type: 'acme.screen_on-2' })])),
  ),
  profile('ids', 'ids are taken of any version or none, in either case', '202', async (stage) =>
    said(
      await post(stage, [
        impression(stage.moment(), { playlistId: '00000000-0000-0000-0000-00000000ABCD' }),
      ]),
    ),
  ),
  profile('milliseconds', 'a timestamp may be in milliseconds', '202', async (stage) =>
    said(await post(stage, [heartbeat(1_760_000_000_123)])),
  ),
  profile('clock', 'a TV’s clock is no reason to refuse', '202', async (stage) =>
    said(await post(stage, [heartbeat(0), heartbeat(Number.MAX_SAFE_INTEGER)])),
  ),
  profile(
    '8-kib',
    'an event may have 8,192 bytes, and not one more',
    '202, 400 invalid_request',
    async (stage) => {
      const empty = JSON.stringify(heartbeat(stage.moment(), { text: '' })).length;
      const ofSize = (bytes: number) => [
        heartbeat(stage.moment(), { text: 'x'.repeat(bytes - empty) }),
      ];
      return saidAll([await post(stage, ofSize(8192)), await post(stage, ofSize(8193))]);
    },
  ),
  profile('413', '413 for more than 1 MiB', '413 body_too_large', async (stage) =>
    said(await raw(stage, ' '.repeat(1024 * 1024 + 1), { 'content-type': 'application/json' })),
  ),
  profile(
    '415',
    '415 for another Content-Type, and for a compressed body',
    '415 unsupported_media_type, 415 unsupported_media_type',
    async (stage) => {
      const text = JSON.stringify(heartbeats(1, stage.moment()));
      return saidAll([
        await raw(stage, text, { 'content-type': 'text/plain' }),
        await post(stage, [], { 'content-encoding': 'gzip' }),
      ]);
    },
  ),
  profile(
    'content-type',
    'a type that ends in +json is taken, and so is none',
    '202, 202',
    async (stage) => {
      const text = JSON.stringify(heartbeats(1, stage.moment()));
      return saidAll([
        await raw(stage, text, { 'content-type': 'application/vnd.acme+json' }),
        await raw(stage, text),
      ]);
    },
  ),
  profile(
    '400.json',
    '400 invalid_json for what is none, for nothing, and for what is nested too deep',
    '400 invalid_json, 400 invalid_json, 400 invalid_json',
    async (stage) => {
      const deep = `[{"type":"x","timestamp":1,"deep":${'['.repeat(65)}${']'.repeat(65)}}]`;
      return saidAll([await raw(stage, '[{'), await raw(stage, ''), await raw(stage, deep)]);
    },
  ),
]);

const durability = about({ id: 'events', subject: 'POST /devices/:id/events', section: '2.5' }, [
  profile(
    'stored',
    'what was accepted is listed by GET /v1/events as it was sent',
    'as sent',
    async (stage) => {
      const event = impression(stage.moment(), { duration: 14.97, ours: { kept: [null, 'ä'] } });
      await post(stage, [event]);
      const [stored] = await stage.stored(await stage.tv(), at(event, 'timestamp') as number);
      return isDeepStrictEqual(stored, event) ? 'as sent' : (JSON.stringify(stored) ?? 'nothing');
    },
  ),
  profile('stored.all', 'of several batches every one is listed', '12', async (stage) => {
    const moment = stage.moment();
    await Promise.all([1, 2, 3, 4].map(() => post(stage, heartbeats(3, moment))));
    return String(await storedAt(stage, moment));
  }),
  profile(
    'key',
    'the same bytes with the same Idempotency-Key are 202 again, and stored once',
    '202, 202, 1 stored',
    async (stage) => {
      const [moment, key] = [stage.moment(), { 'idempotency-key': stage.key() }];
      const answers = [
        await post(stage, heartbeats(1, moment), key),
        await post(stage, heartbeats(1, moment), key),
      ];
      return `${saidAll(answers)}, ${await storedAt(stage, moment)} stored`;
    },
  ),
  profile('key.received', 'the repeat says the same count', '3, 3', async (stage) => {
    const [moment, key] = [stage.moment(), { 'idempotency-key': stage.key() }];
    return [
      await post(stage, heartbeats(3, moment), key),
      await post(stage, heartbeats(3, moment), key),
    ]
      .map(received)
      .join(', ');
  }),
  profile('key.at-once', 'two at the same moment are stored once', '1 stored', async (stage) => {
    const [moment, key] = [stage.moment(), { 'idempotency-key': stage.key() }];
    await Promise.all([1, 2, 3].map(() => post(stage, heartbeats(1, moment), key)));
    return `${await storedAt(stage, moment)} stored`;
  }),
  profile('key.later', 'a key is remembered while others are used', '1 stored', async (stage) => {
    const [moment, key] = [stage.moment(), { 'idempotency-key': stage.key() }];
    await post(stage, heartbeats(1, moment), key);
    for (let other = 0; other < 10; other++)
      await post(stage, heartbeats(1, 1), { 'idempotency-key': stage.key() });
    await post(stage, heartbeats(1, moment), key);
    return `${await storedAt(stage, moment)} stored`;
  }),
  profile(
    'key.reused',
    'the same key with other bytes is 400 idempotency_key_reused, and nothing is stored',
    '400 idempotency_key_reused, 0 stored',
    async (stage) => {
      const [moment, key] = [stage.moment(), { 'idempotency-key': stage.key() }];
      await post(stage, heartbeats(1, stage.moment()), key);
      const answer = await post(stage, heartbeats(1, moment), key);
      return `${said(answer)}, ${await storedAt(stage, moment)} stored`;
    },
  ),
  profile(
    'key.refused',
    'a refused batch does not use its key up',
    '400 invalid_request, 202',
    async (stage) => {
      const key = { 'idempotency-key': stage.key() };
      return saidAll([
        await post(stage, [{ type: 'heartbeat' }], key),
        await post(stage, heartbeats(1, stage.moment()), key),
      ]);
    },
  ),
  profile('key.own', 'keys are each TV’s own', '202, 202', async (stage) => {
    const key = { 'idempotency-key': stage.key() };
    const first = await post(stage, heartbeats(1, stage.moment()), key);
    return saidAll([
      first,
      await (await stage.plainTv()).send('POST', 'events', {
        body: heartbeats(2, stage.moment()),
        headers: key,
      }),
    ]);
  }),
  profile(
    'key.form',
    'an Idempotency-Key of 256 characters is 400',
    '400 invalid_request at header.idempotency-key',
    async (stage) =>
      saidAt(
        await post(stage, heartbeats(1, stage.moment()), { 'idempotency-key': 'x'.repeat(256) }),
      ),
  ),
  profile(
    'no-key',
    'without a key a batch is stored as often as it comes',
    '2 stored',
    async (stage) => {
      const moment = stage.moment();
      for (const batch of [heartbeats(1, moment), heartbeats(1, moment)]) await post(stage, batch);
      return `${await storedAt(stage, moment)} stored`;
    },
  ),
]);

/** What a TV reports (docs/protocol.md §2.5). */
export const eventChecks: readonly Check[] = [...documented, ...validation, ...durability];
