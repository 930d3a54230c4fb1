import { expect, it } from 'vitest';
import { z } from 'zod';
import { findMismatch } from '../../../src/client/answer.ts';
import type { Shape } from '../../../src/client/shapes/runtime-shapes.ts';
import { shapes } from '../../../src/client/shapes/shapes.ts';
import { type Operation, operations } from '../../../src/wire/operations.ts';
import { type SchemaName, schemas } from '../../../src/wire/schemas.ts';

type Json = z.core.JSONSchema.BaseSchema;

/** Responses to TVs are checked less strictly. */
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

/** Derives the shape of a schema. */
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

it.each(answers)('the shape of %s matches its schema', (name) => {
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
