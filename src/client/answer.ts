import { SignageError } from '../domain/error.ts';
import { isObject } from '../domain/json/is-object.ts';
import type { Operation } from '../wire/operations/operations.ts';
import { asObject, type Reply } from './problem.ts';
import { type Shape, shapes } from './shapes.ts';

const kinds: Record<string, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  map: (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
};

function mismatchOfKind(kind: string, value: unknown, path: string): string | undefined {
  const mayBeNull = kind.endsWith('?');
  if (mayBeNull && value === null) return undefined;
  return kinds[mayBeNull ? kind.slice(0, -1) : kind]?.(value) ? undefined : path;
}

function mismatchOfList(shape: Shape, value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return path;
  for (const [index, element] of value.entries()) {
    const mismatch = findMismatch(shape, element, `${path}[${index}]`);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function mismatchOfMembers(
  shape: { readonly [member: string]: Shape },
  value: unknown,
  path: string,
): string | undefined {
  if (!isObject(value)) return path;
  for (const [name, wanted] of Object.entries(shape)) {
    const mismatch = findMismatch(
      wanted,
      Object.hasOwn(value, name) ? value[name] : undefined,
      path === '' ? name : `${path}.${name}`,
    );
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

/**
 * Returns the path of the first place where the value does not match the shape, or `undefined` if
 * it matches. The path of the value itself is `''`.
 */
export function findMismatch(shape: Shape, value: unknown, path = ''): string | undefined {
  if (typeof shape === 'string') return mismatchOfKind(shape, value, path);
  if (!isTuple(shape)) return mismatchOfMembers(shape, value, path);
  const [form, inner] = shape;
  if (form === 'maybe') return value === null ? undefined : findMismatch(inner, value, path);
  return mismatchOfList(inner, value, path);
}

const isTuple = (shape: Exclude<Shape, string>): shape is readonly ['list' | 'maybe', Shape] =>
  Array.isArray(shape);

/**
 * Returns the parsed body of a successful response. Returns `undefined` for a 304, and for an
 * operation whose response has no JSON. Throws `unexpected_answer` if the body does not match the
 * operation's shape.
 */
export function readAnswer(operation: Operation, reply: Reply, service: string): unknown {
  if (operation.answer === undefined || reply.status === 304) return undefined;
  const answer = asObject(reply.text);
  const mismatch = answer && findMismatch(shapes[operation.answer] ?? 'object', answer);
  if (answer && mismatch === undefined) return answer;
  const problem = answer ? `without a usable "${mismatch}"` : 'with no JSON object';
  throw new SignageError(
    'unexpected_answer',
    `${service} answered ${reply.status} ${problem}. Is it a signage service?`,
  );
}
