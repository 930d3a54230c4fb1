import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventBatch, isEventBatch } from '../../../src/domain/events/event.ts';
import { impression } from '../../support/service/content.ts';

const guid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.constantFrom('00000000-0000-0000-0000-000000000000', 'FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF'),
);
const badGuid = fc.oneof(
  fc.constantFrom(
    '',
    'nonsense',
    `${randomUUID()}\n`,
    ` ${randomUUID()}`,
    `{${randomUUID()}}`,
    randomUUID().replaceAll('-', ''),
    'g0000000-0000-0000-0000-000000000000',
  ),
  fc.jsonValue(),
);
const type = fc.oneof(
  fc.constant('impression'),
  fc.constantFrom('heartbeat', 'x', 'a'.repeat(64), 'az09._-'),
  fc.constantFrom('', 'a'.repeat(65), 'Impression', 'impression\n', 'a b', 'é', 1, null, [], {}),
  fc.jsonValue(),
);
const timestamp = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(0, -0, -1, 1.5, 2 ** 53, Number.MAX_SAFE_INTEGER, '1', null),
  fc.jsonValue(),
);
const duration = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, -1, 14.97, Number.POSITIVE_INFINITY, '15', null, true),
  fc.jsonValue(),
);
const usually = <T>(good: fc.Arbitrary<T>, other: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: other });
const id = usually(guid, fc.oneof(fc.constantFrom(null, undefined), badGuid));
const event = fc.oneof(
  {
    weight: 15,
    arbitrary: fc
      .record(
        {
          type: usually(fc.constantFrom('impression', 'heartbeat'), type),
          timestamp: usually(fc.nat(), timestamp),
          playlistId: id,
          creativeId: id,
          campaignId: id,
          duration: usually(fc.nat(), duration),
          more: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .chain((made) =>
        fc.constantFrom(
          made,
          { timestamp: 1, type: 'x', ...made },
          { ...made, constructor: 1, toString: null },
        ),
      ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

const validId = '7b0c5a1e-3f2d-4e6b-8a9c-0d1e2f3a4b5c';

describe('isEventBatch', () => {
  it('accepts exactly what the schema accepts, and the schema returns that unchanged', () => {
    let taken = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          { weight: 20, arbitrary: fc.array(event, { maxLength: 3 }) },
          { weight: 1, arbitrary: fc.jsonValue() },
        ),
        (batch) => {
          const judged = eventBatch.safeParse(batch);
          expect(isEventBatch(batch), JSON.stringify(batch)).toBe(judged.success);
          if (!judged.success) return;
          taken++;
          expect(judged.data).toEqual(batch);
        },
      ),
      { numRuns: 2000 },
    );
    // With fewer, the test would prove little.
    expect(taken).toBeGreaterThan(100);
  });

  it.each([
    ['the same playlist', validId, validId],
    ['the same malformed playlist', 'lobby', 'lobby'],
    ['no playlist after one', validId, undefined],
    ['a malformed playlist after one', validId, `${validId}0`],
  ])('agrees with the schema on two impressions with %s', (_, ...playlistIds) => {
    const batch = playlistIds.map((playlistId) => {
      const ids = { creativeId: validId, campaignId: validId };
      return { type: 'impression', timestamp: 1, playlistId, ...ids };
    });
    expect(isEventBatch(batch)).toBe(eventBatch.safeParse(batch).success);
  });

  it.each([0, 1, 100, 101])('has the same limit as the schema: %i', (count) => {
    const batch = Array.from({ length: count }, () => ({ type: 'x', timestamp: 1 }));
    expect(isEventBatch(batch)).toBe(eventBatch.safeParse(batch).success);
  });
});

const heartbeat = (more: object = {}) => ({ type: 'heartbeat', timestamp: 1760000000, ...more });

describe('a batch of events', () => {
  it.each<[string, object]>([
    ['the smallest event', { type: 'x', timestamp: 0 }],
    ['a type of 64 characters', heartbeat({ type: 'a'.repeat(64) })],
    ['every character of types', heartbeat({ type: 'az09._-' })],
    ['a time in milliseconds', heartbeat({ timestamp: 1760000000123 })],
    ['the latest time', heartbeat({ timestamp: Number.MAX_SAFE_INTEGER })],
    ['ids of no version, in upper case', impression({ playlistId: validId.toUpperCase() })],
    ['null ids that are not needed', heartbeat({ playlistId: null, creativeId: null })],
    ['an id that is not needed', heartbeat({ campaignId: validId })],
    ['an impression of 0 seconds', impression({ duration: 0 })],
    ['an impression of 14.97 seconds', impression({ duration: 14.97 })],
    ['an impression whose duration is null', impression({ duration: null })],
    ['any duration of another type', heartbeat({ duration: 'PT1H' })],
    ['unknown members', { zoo: { a: [{ b: null }] }, ...heartbeat(), 'ä/~': '😀', '': 1 }],
    ['a member named constructor', heartbeat({ constructor: { name: 'x' }, toString: 1 })],
  ])('may have %s', (_, sent) => expect(eventBatch.parse([sent])).toEqual([sent]));

  it.each<[string, unknown, string[]]>([
    ['a number', 1, ['0']],
    ['null', null, ['0']],
    ['an array', [], ['0']],
    ['no members', {}, ['0/type', '0/timestamp']],
    ['a type in upper case', heartbeat({ type: 'Heartbeat' }), ['0/type']],
    ['an empty type', heartbeat({ type: '' }), ['0/type']],
    ['a type of 65 characters', heartbeat({ type: 'a'.repeat(65) }), ['0/type']],
    ['a type with a line break', heartbeat({ type: 'a\n' }), ['0/type']],
    ['a number as type', heartbeat({ type: 1 }), ['0/type']],
    ['a text as timestamp', heartbeat({ timestamp: '1760000000' }), ['0/timestamp']],
    ['a fraction as timestamp', heartbeat({ timestamp: 1.5 }), ['0/timestamp']],
    ['a timestamp before 1970', heartbeat({ timestamp: -1 }), ['0/timestamp']],
    ['a timestamp beyond the safe integers', heartbeat({ timestamp: 2 ** 53 }), ['0/timestamp']],
    ['null as timestamp', heartbeat({ timestamp: null }), ['0/timestamp']],
    ['no campaign of an impression', impression({ campaignId: undefined }), ['0/campaignId']],
    ['null as creative of an impression', impression({ creativeId: null }), ['0/creativeId']],
    ['a malformed id', impression({ playlistId: 'nonsense' }), ['0/playlistId']],
    ['a number as id of another type', heartbeat({ campaignId: 7 }), ['0/campaignId']],
    ['negative seconds', impression({ duration: -1 }), ['0/duration']],
    ['infinite seconds', impression({ duration: Number.POSITIVE_INFINITY }), ['0/duration']],
    ['a text as duration of an impression', impression({ duration: '15' }), ['0/duration']],
  ])('may not have %s', (_, event, paths) => {
    const { error } = eventBatch.safeParse([event]);
    expect([...new Set(error?.issues.map(({ path }) => path.join('/')))]).toEqual(paths);
  });

  it.each([0, 101])('may not have %i events', (count) => {
    const batch = Array.from({ length: count }, () => heartbeat());
    expect(eventBatch.safeParse(batch).error?.issues).toMatchObject([{ path: [] }]);
  });

  it.each([heartbeat(), 'heartbeat', null])('may not be %j', (body) => {
    expect(eventBatch.safeParse(body).error?.issues).toMatchObject([{ path: [] }]);
  });
});
