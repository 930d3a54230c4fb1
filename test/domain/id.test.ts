import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asGuid, formatGuid, makeIdSource } from '../../src/domain/id.ts';
import { ManualClock } from '../support/runtime/manual-clock.ts';

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('makeIdSource', () => {
  it('returns version 7 UUIDs that contain the time', () => {
    const clock = new ManualClock();
    const id = makeIdSource(clock)();
    expect(id).toMatch(version7);
    expect(timeOf(id)).toBe(clock.now());
  });

  it('sets version and variant whatever the random bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 8, maxLength: 8 }), (bytes) =>
        version7.test(makeIdSource(new ManualClock(), () => bytes)()),
      ),
    );
  });

  it('returns ids that sort in order of creation, even when the clock stands still or steps back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5000, max: 5000 }), { minLength: 2, maxLength: 200 }),
        (steps) => {
          const clock = new ManualClock(Date.UTC(2026, 0));
          const newId = makeIdSource(clock, randomBytes);
          const ids = steps.flatMap((step) => {
            clock.set(clock.now() + step);
            return [newId(), newId()];
          });
          expect(ids).toEqual([...new Set(ids)].sort());
        },
      ),
    );
  });

  it('keeps the order past 4,096 ids in one millisecond', () => {
    const newId = makeIdSource(new ManualClock(), () => new Uint8Array(8));
    const ids = Array.from({ length: 10_000 }, newId);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids.every((id) => version7.test(id))).toBe(true);
    expect(timeOf(ids.at(-1)!) - timeOf(ids[0]!)).toBe(2);
  });

  it('follows the clock again once that has caught up', () => {
    const clock = new ManualClock();
    const newId = makeIdSource(clock);
    const before = timeOf(newId());
    clock.set(clock.now() - 60_000);
    expect(timeOf(newId())).toBe(before);
    clock.set(before + 1);
    expect(timeOf(newId())).toBe(before + 1);
  });
});

describe('asGuid', () => {
  it('accepts any UUID in any case, and returns it in lower case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const guid = formatGuid(bytes);
        expect(asGuid(guid)).toBe(guid);
        expect(asGuid(guid.toUpperCase())).toBe(guid);
      }),
    );
  });

  it.each([
    '',
    'x',
    '00000000000000000000000000000000',
    '{00000000-0000-0000-0000-000000000000}',
    '00000000-0000-0000-0000-00000000000',
    '00000000-0000-0000-0000-0000000000000',
    '00000000-0000-0000-0000-00000000000g',
    ' 00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-000000000000\n',
  ])('rejects %j', (text) => expect(asGuid(text)).toBeUndefined());
});
