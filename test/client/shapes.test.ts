import { expect, it } from 'vitest';
import { z } from 'zod';
import { findMismatch } from '../../src/client/shape-mismatch.ts';
import { type Shape, shapes } from '../../src/client/shapes.ts';
import { type Operation, operations } from '../../src/wire/operations.ts';
import { type SchemaName, schemas } from '../../src/wire/schemas.ts';

type Json = z.core.JSONSchema.BaseSchema;

/** What is answered to TVs is looked at less closely. */
const shallow: readonly SchemaName[] = ['registered', 'activePlaylist', 'deviceConfig'];
const answers = [
  ...new Set(
    Object.values<Operation>(operations).flatMap(({ answer }) => (answer ? [answer] : [])),
  ),
];
const kinds: Record<string, 'text' | 'number' | 'boolean'> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

/** The shape that a schema stands for. */
function shapeOf(node: Json, all: Json): Shape {
  if (node.$ref) return shapeOf(all.$defs?.[node.$ref.replace('#/$defs/', '')] as Json, all);
  const choices = (node.anyOf ?? []) as Json[];
  if (choices.some(({ type }) => type === 'null')) {
    const inner = shapeOf(choices.find(({ type }) => type !== 'null')!, all);
    return typeof inner === 'string' ? (`${inner}?` as Shape) : ['maybe', inner];
  }
  if (Array.isArray(node.type))
    return `${kinds[node.type.find((type: string) => type !== 'null') ?? '']}?` as Shape;
  if (node.type === 'array') return ['list', shapeOf(node.items as Json, all)];
  if (node.type !== 'object') return kinds[node.type ?? ''] ?? 'object';
  const required = Object.entries(node.properties ?? {}).filter(([name]) =>
    node.required?.includes(name),
  );
  if (required.length > 0)
    return Object.fromEntries(required.map(([name, one]) => [name, shapeOf(one as Json, all)]));
  return (node.additionalProperties as Json | undefined)?.type === 'string' ? 'map' : 'object';
}

it.each(answers)('the shape of %s is that of its schema', (name) => {
  const schema = z.toJSONSchema(schemas[name], { io: 'output', unrepresentable: 'any' });
  const expected = shapeOf(schema, schema);
  if (!shallow.includes(name)) expect(shapes[name]).toEqual(expected);
  else
    expect(Object.keys(shapes[name] as object).toSorted()).toEqual(
      Object.keys(expected as object).toSorted(),
    );
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
  ['all of it', {}, undefined],
  ['what we do not know', { more: 1 }, undefined],
  ['a text of another kind', { id: 5 }, 'id'],
  ['null where something must be', { id: null }, 'id'],
  ['a map of numbers', { labels: { a: 1 } }, 'labels'],
  ['a list in place of a map', { labels: [] }, 'labels'],
  ['a part that lacks a member', { code: {} }, 'code.at'],
  ['an item of another kind', { items: [{ n: 1 }, null] }, 'items[1]'],
  ['a member of an item', { items: [{ n: '1' }] }, 'items[0].n'],
  ['an object in place of a list', { items: { length: 0 } }, 'items'],
])('%s', (_, change, mismatch) => expect(findMismatch(shape, { ...good, ...change })).toBe(mismatch));

it('takes a member that an older service does not have for an empty one', () => {
  const { note: _, code: __, ...older } = good;
  expect(findMismatch(shape, older)).toBeUndefined();
  expect(older).toEqual(good);
  const { id: ___, ...lacking } = good;
  expect(findMismatch(shape, lacking)).toBe('id');
});

it('is not taken in by what every object inherits', () => {
  expect(findMismatch({ toString: 'object' } as unknown as Shape, {})).toBe('toString');
});
