import { at } from './answer.ts';

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

/** The types of members. A type with `?` also allows `null`, but the member must exist. */
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
