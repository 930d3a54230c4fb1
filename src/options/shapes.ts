import { z } from 'zod';

export const text = z.string('must be a text');
export const texts = z.array(text, 'must be a list of texts');
export const flag = z.boolean('must be true or false');
export const callable = z.custom((value) => typeof value === 'function', 'must be a function');
export const signalShape = z.instanceof(AbortSignal, { error: 'must be an AbortSignal' });

/** An object whose members are checked elsewhere, such as by the service. */
export const object = z.custom(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);
export const objects = z.array(object, 'must be a list of objects');

export function whole(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
}

/** A number from `min`, or above 0 without it. `Infinity` only where it is allowed. */
export function amount(
  what: string,
  { min, infinite = false }: { min?: number; infinite?: boolean } = {},
) {
  const rule = `must be ${what} ${min === undefined ? 'above 0' : `of at least ${min}`}`;
  const isAmount = (value: unknown) =>
    typeof value === 'number' &&
    (min === undefined ? value > 0 : value >= min) &&
    (infinite || Number.isFinite(value));
  return z.custom(isAmount, rule);
}

export function oneOf(...values: string[]) {
  return z.enum(values, `must be ${values.join(', ').replace(/, ([^,]+)$/, ' or $1')}`);
}

export function listOf(...values: string[]) {
  const rule = `must be a list of ${values.join(', ')}`;
  const isList = (given: unknown) =>
    Array.isArray(given) && given.every((one) => values.includes(one));
  return z.custom(isList, rule);
}

/** An object that has at least these functions. */
export function withFunctions(...names: string[]) {
  const isComplete = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
  const list = names.join(', ').replace(/, (\w+)$/, ' and $1');
  return z.custom(isComplete, `must be an object with ${list}`);
}

/** An object whose members are all optional. */
export function settings(members: Record<string, z.ZodType>) {
  const list = Object.keys(members).join(', ');
  const optional = Object.entries(members).map(([name, type]) => [name, type.optional()]);
  return z.strictObject(Object.fromEntries(optional), `must be an object with ${list}`);
}

export const clockShape = withFunctions('now', 'after');

/** The location of a store. Near spellings of `memory:` would make a folder of that name. */
export function storeLocation<T extends z.ZodType>(shape: T) {
  return shape.refine(
    (value) => value === 'memory:' || !/^:?memory:?$/i.test(String(value)),
    'must be memory: for a store in memory, or ./memory for a folder',
  );
}
