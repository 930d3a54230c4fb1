import { isObject } from './is-object.ts';

/**
 * Serialises to JSON with the members of objects sorted by name, because databases reorder them.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
