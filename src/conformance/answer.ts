/** A response. */
export interface Answer {
  status: number;
  /** Header values by lower-case name. A repeated header has its first value. */
  headers: Readonly<Record<string, string | undefined>>;
  text: string;
  /** The parsed body, or `undefined` if it is not JSON. */
  json: unknown;
}

/** Returns the value at a path such as `items.0.creativeId`, or `undefined` if there is none. */
export function at(json: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? value[name as keyof typeof value]
      : undefined;
  }, json);
}

/** Returns a text member. Returns an empty text if the member is missing or not a text. */
export function textAt(json: unknown, path: string): string {
  const value = at(json, path);
  return typeof value === 'string' ? value : '';
}

/** Returns an array member. Returns an empty array if the member is missing or not an array. */
export function listAt(json: unknown, path: string): readonly unknown[] {
  const value = path === '' ? json : at(json, path);
  return Array.isArray(value) ? value : [];
}

/** Whether the `Location` of a response ends with this path. */
export const isLocatedAt = ({ headers }: Answer, path: string): boolean =>
  (headers.location ?? '').endsWith(path);

/**
 * Returns status and error code, such as `401 device_key_missing`, or only the status, such as
 * `200`.
 */
export function statusAndCode({ status, json }: Answer): string {
  return `${status} ${status >= 400 ? textAt(json, 'code') : ''}`.trim();
}

/**
 * Returns status, error code and the paths of the errors: `400 invalid_request at /3/timestamp`.
 * `the body` stands for an error of the whole body.
 */
export function statusAndPaths(answer: Answer): string {
  const paths = listAt(answer.json, 'errors').map((error) => textAt(error, 'path') || 'the body');
  return paths.length === 0
    ? statusAndCode(answer)
    : `${statusAndCode(answer)} at ${[...new Set(paths)].sort().join(', ')}`;
}

/** Returns status, error code, and whether `existingId` is `id`. */
export const conflictAndId = (answer: Answer, id: unknown): string =>
  `${statusAndCode(answer)}, ${at(answer.json, 'existingId') === id ? 'its id' : 'no id'}`;

type Test = (value: unknown) => boolean;

const text: Test = (value) => typeof value === 'string' && value !== '';
const uuid: Test = (value) =>
  typeof value === 'string' &&
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value);
/** Whether a value is a time in ISO 8601 in UTC with milliseconds. */
export const isTime: Test = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
const object: Test = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Tests of member types. With `?` after its type, a member may be `null`, but it must exist. */
const kinds = {
  text,
  uuid,
  object,
  integer: Number.isSafeInteger as Test,
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  array: Array.isArray as Test,
  url: (value: unknown) => typeof value === 'string' && URL.canParse(value),
  time: isTime,
};

type Kind = keyof typeof kinds;

export const allMembers = 'all members with the right types';

/**
 * Returns `all members with the right types`, or the members with a wrong type and their values:
 * `version is "1"`.
 */
export function schemaViolations(
  json: unknown,
  members: Readonly<Record<string, Kind | `${Kind}?`>>,
): string {
  const violations = Object.entries(members).flatMap(([path, wanted]) => {
    const value = at(json, path);
    const kind = wanted.replace('?', '') as Kind;
    if ((wanted.endsWith('?') && value === null) || kinds[kind](value)) return [];
    return [`${path} is ${value === undefined ? 'missing' : JSON.stringify(value)}`];
  });
  return violations.join('; ') || allMembers;
}
