import fc from 'fast-check';
import type { Operation } from '../../../src/wire/operations/operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: schemas are walked as the JSON that they are.
export type JsonSchema = any;

/** What an operation takes, with all references of the schemas resolved. */
export interface Taken {
  body: JsonSchema | undefined;
  isBodyRequired: boolean;
  query: { name: string; required?: boolean; schema: JsonSchema }[];
}

/** Returns what an operation takes by the OpenAPI document. */
export function takenBy(document: JsonSchema, { method, path }: Operation): Taken {
  const resolved = (node: JsonSchema): JsonSchema => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(resolved);
    if (typeof node.$ref === 'string') return resolved(at(node.$ref.slice(2).split('/')));
    return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, resolved(one)]));
  };
  const at = (names: string[]) => names.reduce((node, name) => node[name], document);
  const template = path.replace(/:(\w+)/g, '{$1}');
  const described = resolved(document.paths[template][method.toLowerCase()]);
  return {
    body: described.requestBody?.content['application/json']?.schema,
    isBodyRequired: described.requestBody?.required ?? false,
    query: (described.parameters ?? []).filter((one: JsonSchema) => one.in === 'query'),
  };
}

/** Chooses the first in this percentage of cases, or else the second. */
export const sometimes = <T>(percent: number, odd: fc.Arbitrary<T>, usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: percent, arbitrary: odd }, { weight: 100 - percent, arbitrary: usual });

/** Existing ids, and values that satisfy more than the schema, by name of the member. */
type Known = (name: string) => readonly unknown[] | undefined;

const date = fc
  .date({ min: new Date('2010-01-01'), max: new Date('2099-01-01'), noInvalidDate: true })
  .map((one) => one.toISOString());
const byFormat: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  'date-time': date,
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
};

/** Returns valid values of a schema. */
export function arbitraryOf(schema: JsonSchema, known: Known, name = ''): fc.Arbitrary<unknown> {
  const ids = known(name);
  if (ids === undefined || ids.length === 0) return anyOf(schema, known, name);
  const one = fc.constantFrom(...ids);
  const idOrIds = schema.type === 'array' ? one.map((id) => [id]) : one;
  return sometimes(80, idOrIds, anyOf(schema, known, name));
}

function anyOf(schema: JsonSchema, known: Known, name: string): fc.Arbitrary<unknown> {
  const [first, ...others] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) {
    const each = (one: JsonSchema) => arbitraryOf(one, known, name);
    return others.length === 0
      ? each(first)
      : sometimes(80, each(first), fc.oneof(...others.map(each)));
  }
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.type === 'object') return objectOf(schema, known);
  if (schema.type === 'array') return arrayOf(schema, known, name);
  if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema);
  if (schema.type === 'string') return textOf(schema);
  if (schema.type === 'boolean') return fc.boolean();
  return schema.type === 'null' ? fc.constant(null) : fc.constantFrom(1, 'x', true, null);
}

function objectOf(
  { properties = {}, required = [], additionalProperties: others, propertyNames }: JsonSchema,
  known: Known,
): fc.Arbitrary<unknown> {
  const members = Object.entries(properties).map(([name, schema]) => [
    name,
    arbitraryOf(schema, known, name),
  ]);
  const own = fc.record(Object.fromEntries(members), {
    requiredKeys: required,
    noNullPrototype: true,
  });
  if (typeof others !== 'object' || Object.keys(others).length === 0) return own;
  const names = propertyNames ? textOf(propertyNames) : fc.string();
  const more = fc.dictionary(names, arbitraryOf(others, known), { maxKeys: 3 });
  return fc.tuple(more, own).map(([one, other]) => ({ ...one, ...other }));
}

function arrayOf(
  { items = {}, minItems = 0, maxItems = 5 }: JsonSchema,
  known: Known,
  name: string,
): fc.Arbitrary<unknown> {
  const one = arbitraryOf(items, known, name);
  const few = Math.min(maxItems, minItems + 3);
  // At the limit, only the number of items matters.
  const atLimit = fc
    .tuple(fc.constantFrom(0, maxItems, maxItems + 1), one)
    .map(([length, item]) => Array(length).fill(item));
  return sometimes(6, atLimit, fc.array(one, { minLength: minItems, maxLength: few }));
}

function numberOf({ type, minimum, exclusiveMinimum, maximum }: JsonSchema): fc.Arbitrary<number> {
  const least = Math.ceil(minimum ?? exclusiveMinimum ?? -1000);
  // Unlimited integers are times, mostly near the current one.
  const isTime = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER;
  const whole = isTime
    ? fc.oneof(
        fc.integer({ min: least, max: least + 1000 }),
        fc.constantFrom(1_760_000_000, 1_795_000_000, 4_000_000_000),
      )
    : fc.integer({ min: least, max: maximum });
  const isWhole = type === 'integer' && exclusiveMinimum === undefined;
  return isWhole ? whole : whole.map((one) => Math.max(least + 0.001, one));
}

function textOf({ pattern, format, minLength = 0, maxLength = 24 }: JsonSchema) {
  if (byFormat[format]) return byFormat[format];
  // fast-check generates no text for look-ahead, as in the pattern of names.
  if (pattern !== undefined && !pattern.includes('(?'))
    return fc.stringMatching(new RegExp(pattern), { size: 'small' });
  return fc.string({ minLength, maxLength: Math.min(maxLength, 24), unit: 'grapheme' });
}
