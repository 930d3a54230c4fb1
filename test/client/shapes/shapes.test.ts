import { expect, it } from 'vitest';
import { findMismatch } from '../../../src/client/answer.ts';
import { type Shape, shapes } from '../../../src/client/shapes.ts';

it('follow the schemas; TVs read the inner parts of a playlist leniently', () => {
  expect(shapes.tokenList).toMatchObject({
    items: ['list', { id: 'text', tenantId: 'text?', venueIds: ['maybe', ['list', 'text']] }],
    nextCursor: 'text?',
  });
  expect(shapes.venue).toMatchObject({ labels: 'map', timezone: 'text?' });
  expect(shapes.activePlaylist).toMatchObject({ version: 'number', items: ['list', 'object'] });
  expect(shapes.deviceConfig).toMatchObject({ cachePolicy: 'object' });
});

const shape: Shape = {
  id: 'text',
  note: 'text?',
  labels: 'map',
  code: ['maybe', { at: 'text' }],
  items: ['list', { n: 'number' }],
};
const good = { id: 'x', note: null, labels: { a: 'b' }, code: null, items: [{ n: 1 }] };

it.each<[string, object, string | undefined]>([
  ['a complete value', {}, undefined],
  ['an unknown member', { more: 1 }, undefined],
  ['a number in place of a text', { id: 5 }, 'id'],
  ['null where it is not allowed', { id: null }, 'id'],
  ['a map of numbers', { labels: { a: 1 } }, 'labels'],
  ['a list in place of a map', { labels: [] }, 'labels'],
  ['an object without a required member', { code: {} }, 'code.at'],
  ['an item of another type', { items: [{ n: 1 }, null] }, 'items[1]'],
  ['a member of an item', { items: [{ n: '1' }] }, 'items[0].n'],
  ['an object in place of a list', { items: { length: 0 } }, 'items'],
])('findMismatch finds the first mismatch: %s', (_, change, mismatch) =>
  expect(findMismatch(shape, { ...good, ...change })).toBe(mismatch),
);

it('findMismatch finds a missing member, even a nullable one', () => {
  const { note: _, ...lacking } = good;
  expect(findMismatch(shape, lacking)).toBe('note');
});

it('findMismatch ignores inherited members', () => {
  expect(findMismatch({ toString: 'object' } as unknown as Shape, {})).toBe('toString');
});
