import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventPosition, eventId, eventPosition } from '../../../src/domain/events/event-id.ts';

const position = fc.record({
  receivedAtMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  batch: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  index: fc.integer({ min: 0, max: 255 }),
});
const order = (a: EventPosition, b: EventPosition) =>
  a.receivedAtMs - b.receivedAtMs || a.batch - b.batch || a.index - b.index;

describe('eventId', () => {
  it('returns a version 7 UUID', () => {
    fc.assert(
      fc.property(position, (at) =>
        /^[0-9a-f]{8}-[0-9a-f]{4}-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(eventId(at)),
      ),
    );
  });

  it('encodes the position of the event', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(eventPosition(eventId(at))).toEqual(at);
      }),
    );
  });

  it('sorts in log order', () => {
    // Adjacent positions, which are the most likely to sort wrongly.
    const near = fc.record({
      receivedAtMs: fc.integer({ min: 1_800_000_000_000, max: 1_800_000_000_002 }),
      batch: fc.integer({ min: 254, max: 258 }),
      index: fc.constantFrom(0, 1, 99, 255),
    });
    fc.assert(
      fc.property(fc.oneof(position, near), fc.oneof(position, near), (a, b) => {
        const one = eventId(a);
        const other = eventId(b);
        expect(Math.sign(order(a, b))).toBe(one < other ? -1 : one > other ? 1 : 0);
      }),
    );
  });
});

describe('eventPosition', () => {
  it.each([
    ['a UUID of another version', '0190a5b4-6f00-4c3e-9d2a-5b8f1e2c3d4e'],
    ['a UUID of version 7 that another source made', '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e'],
    ['another variant', '0190a5b4-6f00-7000-1d2a-5b8f1e2c3d4e'],
    ['a batch beyond the safe integers', '0190a5b4-6f00-7000-bfff-ffffffffffff'],
    ['nothing', ''],
    ['something that is no UUID', 'nonsense'],
  ])('returns undefined for %s', (_, id) => expect(eventPosition(id)).toBeUndefined());
});
