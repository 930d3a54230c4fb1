import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { iso, isoOrNull } from '../../src/domain/clock.ts';
import {
  epochMs,
  epochTime,
  labels,
  labelsPatch,
  recordId,
  recordName,
} from '../../src/domain/fields.ts';
import { foldName } from '../../src/domain/fold-name.ts';
import { timeRangeQuery } from '../../src/domain/paging.ts';
import { schemas } from '../../src/wire/schemas.ts';

const good = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('a time from TVs', () => {
  it('is in whole seconds, or in milliseconds from 10^11 on', () => {
    expect(epochMs(1_760_000_000)).toBe(1_760_000_000_000);
    expect(epochMs(99_999_999_999)).toBe(99_999_999_999_000);
    expect(epochMs(100_000_000_000)).toBe(100_000_000_000);
    expect(epochMs(1_760_000_000_123)).toBe(1_760_000_000_123);
  });

  it('must be a whole number of 0 or more', () => {
    for (const time of [0, 1, Number.MAX_SAFE_INTEGER])
      expect(good(epochTime, time), String(time)).toBe(true);
    for (const time of [
      -1,
      1.5,
      Number.MAX_SAFE_INTEGER + 1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '1',
      null,
      1n,
    ]) {
      expect(good(epochTime, time), String(time)).toBe(false);
    }
  });
});

describe('a time in a query', () => {
  it.each([
    ['2026-11-20', Date.UTC(2026, 10, 20)],
    ['2026-11-20T12:00Z', Date.UTC(2026, 10, 20, 12)],
    ['2026-11-20T12:00:00Z', Date.UTC(2026, 10, 20, 12)],
    ['2026-11-20T12:00:00.123Z', Date.UTC(2026, 10, 20, 12, 0, 0, 123)],
    ['2026-11-20T12:00:00+01:00', Date.UTC(2026, 10, 20, 11)],
    ['1760000000', 1_760_000_000_000],
    ['1760000000123', 1_760_000_000_123],
    ['0', 0],
  ])('%s', (text, time) => expect(timeRangeQuery.from.parse(text)).toBe(time));

  it.each([
    '',
    'now',
    '2026-13-01',
    '2026-11-20T12:00:00',
    '2026-11-20 12:00:00Z',
    '1.5',
    '-1',
    '20 Nov 2026',
    '999999999999999999',
  ])('rejects "%s"', (text) => expect(good(timeRangeQuery.from, text)).toBe(false));

  it('accepts the times that the service writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 0) }), (time) => {
        expect(timeRangeQuery.from.parse(iso(time))).toBe(time);
      }),
    );
  });

  it('isoOrNull returns null for a missing time', () => {
    expect([isoOrNull(null), isoOrNull(undefined), isoOrNull(0)]).toEqual([
      null,
      null,
      '1970-01-01T00:00:00.000Z',
    ]);
  });
});

describe('an id', () => {
  it('is any UUID, of any version or none, converted to lower case', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(
          /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
        ),
        (id) => {
          expect(recordId.parse(id)).toBe(id.toLowerCase());
        },
      ),
    );
  });
});

describe('a name', () => {
  it('is trimmed and normalized to NFC', () => {
    expect(recordName.parse('  Cafe\u0301 ')).toBe('Caf\u00e9');
    expect(recordName.parse('\u00a0Lobby\u3000')).toBe('Lobby');
  });

  it.each([
    ...['x', 'x'.repeat(200), '😀'.repeat(200), '日本', '😀', "a\\b:c'd", '.', '..'],
    // Joiners, which scripts and emoji need.
    ...['क्\u200dष', 'می\u200cخواهم', '👩\u200d👧', '⭐\ufe0f'],
  ])('may be %j', (name) => expect(recordName.parse(name)).toBe(name));
  it.each([
    '',
    '  ',
    'x'.repeat(201),
    'a/b',
    'a\nb',
    'a\u0000b',
    'a\u007fb',
    'a\u009fb',
    'a\ud800b',
    7,
    null,
  ])('may not be %j', (name) => expect(good(recordName, name)).toBe(false));

  it.each([
    ...['\u00ad', '\u061c', '\u200b', '\u200e', '\u200f', '\u2028', '\u2029', '\u202a'],
    ...['\u202b', '\u202c', '\u202d', '\u202e', '\u2060', '\u2064', '\u2066', '\u2067'],
    ...['\u2068', '\u2069', '\u206f', '\ufeff'],
  ])('may not contain the invisible character %j', (one) =>
    expect(good(recordName, `Lob${one}by`)).toBe(false),
  );

  it.each([
    '\u3164',
    '\u115f',
    '\uffa0',
    '\u2800',
    '\u180e',
    '\u200d',
    '\u3164 \u2800\u00a0\u115f',
  ])('may not consist of blank characters only: %j', (name) => {
    expect(good(recordName, name)).toBe(false);
    expect(good(recordName, `${name}x`)).toBe(true);
  });

  it('is unchanged when validated again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        const first = recordName.safeParse(text);
        fc.pre(first.success);
        expect(recordName.parse(first.data)).toBe(first.data);
      }),
    );
  });

  it('is compared without regard to case and normal form', () => {
    expect(foldName(' CAFE\u0301 ')).toBe(foldName('caf\u00e9'));
  });

  it.each(['\u00a0', '\u1680', '\u2003', '\u2009', '\u202f', '\u205f', '\u3000'])(
    'is compared with the space separator %j as a space',
    (space) => expect(foldName(`Screen${space}1`)).toBe('screen 1'),
  );
});

describe('a text of an operator', () => {
  const deviceId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
  const items = (name: string) => [
    { creativeId: deviceId, creativeUrl: 'http://a.b/c', creativeType: 'image', duration: 1, name },
  ];
  const until = 4_000_000_000;
  const bodies = {
    'a reason': (text: string) => schemas.revocation.safeParse({ reason: text }),
    'the name of a tenant': (name: string) => schemas.tenantCreation.safeParse({ name }),
    'the name of a token': (name: string) =>
      schemas.tokenCreation.safeParse({ name, role: 'viewer' }),
    'the name of a venue': (name: string) => schemas.venueCreation.safeParse({ name }),
    'the address of a venue': (address: string) => schemas.venuePatch.safeParse({ address }),
    'a label': (text: string) => schemas.screenPatch.safeParse({ labels: { a: text } }),
    'the key of a label': (text: string) =>
      schemas.screenPatch.safeParse({ labels: { [text]: '' } }),
    'the URL of a webhook': (text: string) =>
      schemas.webhookCreation.safeParse({ url: `https://a.b/${text}` }),
    'the name of a webhook': (name: string) =>
      schemas.webhookCreation.safeParse({ url: 'https://a.b', name }),
    'the name of a published item': (name: string) =>
      schemas.publication.safeParse({ items: items(name) }),
    'the name of a scheduled item': (name: string) =>
      schemas.scheduleInput.safeParse({
        entries: [{ from: '08:00', to: '09:00', items: items(name) }],
      }),
    'the name of an item of a takeover': (name: string) =>
      schemas.takeoverInput.safeParse({ items: items(name), until }),
  };

  it.each(Object.entries(bodies))('%s has no control characters', (name, parse) => {
    expect(parse('plain').success).toBe(true);
    for (const control of [
      '\0',
      '\u0007',
      '\u001b',
      '\u007f',
      '\u0085',
      '\u009b',
      '\n',
      '\r',
      '\t',
    ])
      expect(parse(`a${control}b`).success, JSON.stringify(control)).toBe(
        name === 'the address of a venue' && /[\t\r\n]/.test(control),
      );
  });
});

describe('labels', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));

  it('are up to 64 texts by key', () => {
    for (const map of [
      {},
      { floor: '2' },
      { k: '' },
      { ['k'.repeat(100)]: 'v'.repeat(200) },
      many(64),
    ])
      expect(good(labels, map)).toBe(true);
    for (const map of [
      many(65),
      { '': 'v' },
      { 'a:b': 'v' },
      { 'a\n': 'v' },
      { ['k'.repeat(101)]: 'v' },
      { k: 'v'.repeat(201) },
      { k: 'a\nb' },
      { k: 2 },
      { k: null },
      [],
      'x',
    ]) {
      expect(good(labels, map), JSON.stringify(map)).toBe(false);
    }
  });

  it('may be removed by a patch', () => {
    for (const patch of [null, {}, { floor: null, wing: 'east' }])
      expect(good(labelsPatch, patch)).toBe(true);
    expect(good(labelsPatch, { floor: 2 })).toBe(false);
  });
});
