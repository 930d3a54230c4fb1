import { z } from 'zod';
import { type Operation, operations } from '../wire/operations/operations.ts';
import { type SchemaName, schemas } from '../wire/schemas.ts';

/** The kind of a value. `map` is an object with text values. A `?` allows `null`. */
type ValueKind = 'text' | 'number' | 'boolean' | 'object' | 'map';

/** The expected shape of a response, as far as programs depend on it. */
export type Shape =
  | ValueKind
  | `${ValueKind}?`
  | readonly ['list', Shape]
  | readonly ['maybe', Shape]
  | { readonly [member: string]: Shape };

type JsonSchema = z.core.JSONSchema.BaseSchema;

const kinds: Record<string, ValueKind> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

/** Responses of which only the top-level members are checked: TVs read the rest leniently. */
const shallow: readonly SchemaName[] = ['registered', 'activePlaylist', 'deviceConfig'];

function shapeOf(node: JsonSchema, all: JsonSchema, depth: number): Shape {
  if (node.$ref)
    return shapeOf(all.$defs?.[node.$ref.replace('#/$defs/', '')] as JsonSchema, all, depth);
  const choices = (node.anyOf ?? []) as JsonSchema[];
  const choice = choices.find(({ type }) => type !== 'null');
  if (choice && choices.some(({ type }) => type === 'null')) {
    const inner = shapeOf(choice, all, depth);
    return typeof inner === 'string' ? (`${inner}?` as Shape) : ['maybe', inner];
  }
  if (Array.isArray(node.type))
    return `${kinds[node.type.find((type: string) => type !== 'null') ?? '']}?` as Shape;
  if (node.type === 'array') return ['list', shapeOf(node.items as JsonSchema, all, depth)];
  if (node.type !== 'object') return kinds[node.type ?? ''] ?? 'object';
  if ((node.additionalProperties as JsonSchema | undefined)?.type === 'string') return 'map';
  const required = Object.entries(node.properties ?? {}).filter(([name]) =>
    node.required?.includes(name),
  );
  if (depth === 0 || required.length === 0) return 'object';
  return Object.fromEntries(
    required.map(([name, one]) => [name, shapeOf(one as JsonSchema, all, depth - 1)]),
  );
}

function shapeOfSchema(name: SchemaName): Shape {
  const json = z.toJSONSchema(schemas[name], { io: 'output', unrepresentable: 'any' });
  return shapeOf(json, json, shallow.includes(name) ? 1 : Number.POSITIVE_INFINITY);
}

const answers = Object.values<Operation>(operations).flatMap(({ answer }) => answer ?? []);

/**
 * The shapes of all response bodies. The build replaces this module by its value, because loading
 * the schemas is too slow for a command and too large for a TV.
 */
export const shapes: Partial<Record<SchemaName, Shape>> = Object.fromEntries(
  answers.map((name) => [name, shapeOfSchema(name)]),
);
