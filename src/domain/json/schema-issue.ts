import type { z } from 'zod';

/** Returns a JSON Pointer (RFC 6901) to a member: `/items/0/duration`. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns the path of a member for people: `items[0].duration`. */
export function memberPath(path: readonly PropertyKey[]): string {
  const parts = path.map(String).map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`));
  return parts.join('').replace(/^\./, '');
}

/**
 * Returns the wrong members that an issue of a zod schema names. `ifUnknown` is the message for
 * members that the schema does not know.
 */
export function wrongMembers(
  issue: z.core.$ZodIssue,
  ifUnknown: string,
): { path: PropertyKey[]; message: string }[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: ifUnknown }));
  const inner = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined;
  return [{ path, message: inner ?? message }];
}
