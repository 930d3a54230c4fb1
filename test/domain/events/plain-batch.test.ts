import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchSums } from '../../../src/domain/events/batch-counts.ts';
import { type CountedEvent, isEventBatch } from '../../../src/domain/events/event.ts';
import { plainBatch } from '../../../src/domain/events/plain-batch.ts';
import { parseJson } from '../../../src/domain/json/parse-json.ts';
import { impression } from '../../support/content.ts';

const bytesOf = (text: string) => Buffer.from(text);
const read = (text: string) => plainBatch(bytesOf(text));

/**
 * Expects that an accepted batch is valid for the general parser too, with the same sums and in
 * minimal form.
 */
function expectAgreed(text: string): boolean {
  const found = read(text);
  if (!found) return false;
  const { json, scan } = parseJson(bytesOf(text));
  expect(isEventBatch(json), text).toBe(true);
  const events = json as CountedEvent[];
  expect(found).toEqual(batchSums(events));
  expect(scan.members, text).toBe(
    events.reduce((sum, event) => sum + Object.keys(event).length, 0),
  );
  expect(text).toMatch(/^[!-~]+$/);
  return true;
}

const id = fc.oneof(
  fc.uuid(),
  fc.constantFrom(
    '3d2f6c1a-8b47-4e0d-9a55-0c6e1f7b2a01',
    '3d2f6c1a-8b47-4e0d-9a55-0c6e1f7b2a02',
    'FFFFFFFF-ffff-FFFF-ffff-ffffffffffff',
  ),
);
const seconds = fc.oneof(
  fc.nat(100),
  fc.integer({ min: 0, max: 86_400_000 }).map((ms) => ms / 1000),
);
const timestamp = fc.oneof(
  fc.integer({ min: 0, max: 2_000_000_000 }),
  fc.integer({ min: 0, max: 2_000_000_000_000 }),
);
const played = fc.record(
  {
    type: fc.constant('impression'),
    timestamp,
    playlistId: id,
    creativeId: id,
    campaignId: id,
    duration: seconds,
  },
  { requiredKeys: ['type', 'timestamp', 'playlistId', 'creativeId', 'campaignId'] },
);
const other = fc.record(
  {
    timestamp,
    type: fc.stringMatching(/^[a-z0-9._-]{1,64}$/).filter((type) => type !== 'impression'),
    duration: seconds,
    campaignId: id,
  },
  { requiredKeys: ['type', 'timestamp'] },
);
const written = fc
  .array(fc.oneof(played, other), { minLength: 1, maxLength: 8 })
  .map((events) => JSON.stringify(events));

function expectIds(first: number): void {
  const ids = Array.from(
    { length: 100 },
    (_, n) => `${String(first + n).padStart(8, '0')}-0000-0000-0000-000000000000`,
  );
  const sums = read(JSON.stringify(ids.map((campaignId) => impression({ campaignId }))));
  expect([...(sums?.days[0]?.campaigns.keys() ?? [])]).toEqual(ids);
}

describe('a batch as programs write it', () => {
  it('is read by the fast parser', () => {
    fc.assert(fc.property(written, expectAgreed));
  });

  it('is read with up to 100 events, in any order of members', () => {
    const all = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, n) => impression({ timestamp: n })));
    expect(read(all(100))?.length).toBe(100);
    expect(read(all(101))).toBeUndefined();
    const turned = Object.fromEntries(Object.entries(impression()).reverse());
    expect(expectAgreed(JSON.stringify([turned]))).toBe(true);
  });

  it('may have a hundred distinct ids, of thousands over many batches', () => {
    for (let first = 0; first < 10_000; first += 100) expectIds(first);
    expectIds(0);
  });

  it('is distinguished from a batch with an id that differs in any one character', () => {
    const sent = impression();
    const at = JSON.stringify([sent]).indexOf(String(sent.campaignId));
    for (let place = at; place < at + 36; place++) {
      const text = JSON.stringify([sent]);
      const other = text[place] === '1' ? '2' : '1';
      if (text[place] !== '-')
        expect(expectAgreed(text.slice(0, place) + other + text.slice(place + 1))).toBe(true);
      expect(expectAgreed(text)).toBe(true);
    }
  });
});

describe('a batch with one bit flipped', () => {
  const good = bytesOf(
    JSON.stringify([impression({ duration: 10 }), impression({ duration: 10 })]),
  );
  const flipped = (at: number, bit: number) =>
    Buffer.from(good.map((byte, n) => (n === at ? byte ^ (1 << bit) : byte)));

  it('never yields the sums of the original', () => {
    expect(plainBatch(good)?.length).toBe(2);
    for (let at = 0; at < good.length; at++) {
      for (let bit = 0; bit < 7; bit++) expectAgreed(flipped(at, bit).toString('latin1'));
      expect(plainBatch(flipped(at, 7)), `byte ${at}`).toBeUndefined();
    }
  });
});

describe('a batch in another notation', () => {
  it('is left to the general parser', () => {
    const good = JSON.stringify([impression({ duration: 10 }), impression({ duration: 10 })]);
    expect(expectAgreed(good)).toBe(true);
    const otherNotations = [
      ...[
        '',
        '[',
        '[]',
        '[{}]',
        '{}',
        'null',
        good.slice(0, -1),
        good.slice(1),
        `${good} `,
        ` ${good}`,
        `${good}]`,
        `\ufeff${good}`,
      ],
      ...[
        good.replace('},', '}, '),
        good.replace(':', ': '),
        good.replace('[{', '[{}'),
        good.replace('}]', '},]'),
        good.replace('}]', '} ]'),
      ],
      ...[
        good.replace('"type"', '"Type"'),
        good.replace('"type":', '"type":"x","type":'),
        good.replace('{', '{"note":1,'),
      ],
      ...[
        good.replace('{', '{"__proto__":1,'),
        good.replace('{', '{"duration":1,'),
        good.replace('"duration":10', '"duration":null'),
      ],
      ...['01', '1.', '.5', '1e3', '-1', '+1', '1.5.5', '', '"1"', 'NaN', '1234567890123456'].map(
        (text) => good.replace('"duration":10', `"duration":${text}`),
      ),
      ...['1.5', '00', '-0', '9007199254740993', 'null'].map((text) =>
        good.replace(/"timestamp":\d+/, `"timestamp":${text}`),
      ),
      ...['Impression', '', 'x'.repeat(65), 'a b', 'ä', 'a\\u0062'].map((text) =>
        good.replace('"impression"', `"${text}"`),
      ),
      ...['playlistId', 'creativeId', 'campaignId'].flatMap((name) => [
        good.replace(new RegExp(`"${name}":"[^"]*",?`), ''),
        good.replace(new RegExp(`("${name}":")[^"]`), '$1g'),
        good.replace(new RegExp(`("${name}":"[^"]*)[^"]"`), '$1"'),
        good.replace(new RegExp(`"${name}":"[^"]*"`), `"${name}":null`),
      ]),
    ];
    for (const text of otherNotations) expect(read(text), text).toBeUndefined();
  });

  it('is accepted only if the general parser accepts it, wherever it was damaged', () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom('', ...'{}[]":,.-+0123456789eE\\ \n\tagtypo_ä\0'),
      fc.constantFrom(0, 1, 2),
    );
    fc.assert(
      fc.property(written, fc.array(damage, { minLength: 1, maxLength: 3 }), (text, damages) => {
        let damaged = text;
        for (const [place, put, cut] of damages) {
          const at = place % damaged.length;
          damaged = damaged.slice(0, at) + put + damaged.slice(at + cut);
          if (damaged === '') return;
        }
        expectAgreed(damaged);
      }),
      { numRuns: 3000 },
    );
  });
});
