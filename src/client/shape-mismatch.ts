import type { Shape } from './shapes.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kinds: Record<string, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  map: (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
};

function misfitOfKind(kind: string, value: unknown, path: string): string | undefined {
  const mayBeNull = kind.endsWith('?');
  if (mayBeNull && value === null) return undefined;
  return kinds[mayBeNull ? kind.slice(0, -1) : kind]?.(value) ? undefined : path;
}

function misfitOfList(shape: Shape, value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return path;
  for (const [at, one] of value.entries()) {
    const misfit = findMisfit(shape, one, `${path}[${at}]`);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

const mayBeNull = (shape: Shape) =>
  typeof shape === 'string' ? shape.endsWith('?') : Array.isArray(shape) && shape[0] === 'maybe';

function misfitOfMembers(
  shape: { readonly [member: string]: Shape },
  value: unknown,
  path: string,
): string | undefined {
  if (!isObject(value)) return path;
  for (const [name, wanted] of Object.entries(shape)) {
    // An older service does not have the member yet: there, too, it is empty.
    if (!Object.hasOwn(value, name) && mayBeNull(wanted)) value[name] = null;
    const misfit = findMisfit(
      wanted,
      Object.hasOwn(value, name) ? value[name] : undefined,
      path === '' ? name : `${path}.${name}`,
    );
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

/** Where a value is not what the shape says: the path of the first such place, `''` for the value itself; `undefined` when all is well. */
export function findMisfit(shape: Shape, value: unknown, path = ''): string | undefined {
  if (typeof shape === 'string') return misfitOfKind(shape, value, path);
  if (!isTuple(shape)) return misfitOfMembers(shape, value, path);
  const [form, inner] = shape;
  if (form === 'maybe') return value === null ? undefined : findMisfit(inner, value, path);
  return misfitOfList(inner, value, path);
}

const isTuple = (shape: Exclude<Shape, string>): shape is readonly ['list' | 'maybe', Shape] =>
  Array.isArray(shape);
