import type { z } from 'zod';

/** Returns a JSON Pointer (RFC 6901) to a member: `/items/0/duration`. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns the path of a member for people: `items[0].duration`. */
export function memberPath(path: readonly PropertyKey[]): string {
  const parts = path.map(String).map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`));
  return parts.join('').replace(/^\./, '');
}

const types: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const verbFor = ({ origin }: { origin: string }) =>
  ['number', 'int', 'bigint'].includes(origin) ? 'be' : 'have';

/** Returns the message of an issue. Replaces a message that zod made, which names no remedy. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (!/^(?:Invalid|Too|Unrecognized) /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${types[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return `must ${verbFor(issue)} at least ${issue.minimum}`;
    case 'too_big':
      return `must ${verbFor(issue)} at most ${issue.maximum}`;
    default:
      return 'is not valid';
  }
}

/**
 * Returns the wrong members that an issue of a zod schema names. `ifUnknown` is the message for
 * members that the schema does not know.
 */
export function wrongMembers(
  issue: z.core.$ZodIssue,
  ifUnknown: string,
): { path: PropertyKey[]; message: string }[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: ifUnknown }));
  const inner = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined;
  return [{ path, message: inner ?? messageOf(issue) }];
}
