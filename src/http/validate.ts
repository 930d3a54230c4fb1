import type { z } from 'zod';
import { type FieldError, invalid } from '../domain/error.ts';

const escapePointer = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** Where an issue lies: a JSON Pointer into the body (RFC 6901), or `query.<name>`. */
function pathOf(source: 'body' | 'query', path: readonly PropertyKey[]): string {
  if (source === 'query') return `query.${String(path[0] ?? '')}`;
  return path.map((part) => `/${escapePointer(String(part))}`).join('');
}

function fieldErrors(source: 'body' | 'query', issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    const noun = source === 'query' ? 'query parameter' : 'member';
    return issue.keys.map((key) => ({
      path: pathOf(source, [...issue.path, key]),
      message: `is no ${noun} that we know: check its spelling`,
    }));
  }
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return [{ path: pathOf(source, issue.path), message }];
}

/** Checks what came in against its schema; throws `invalid_request` naming each member that is wrong, once. */
export function check<S extends z.ZodType>(schema: S, value: unknown, source: 'body' | 'query'): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const named = new Map<string, FieldError>();
  for (const error of result.error.issues.flatMap((issue) => fieldErrors(source, issue))) {
    if (!named.has(error.path)) named.set(error.path, error);
  }
  throw invalid([...named.values()]);
}

/** The query as an object: a name that is given several times becomes a list. */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const names = new Set(search.keys());
  const entries = [...names].map((name): [string, string | string[]] => {
    const values = search.getAll(name);
    return [name, values.length === 1 ? (values[0] ?? '') : values];
  });
  return Object.fromEntries(entries);
}

/** The `Idempotency-Key` of a request, if any; throws `invalid_request` when it is not `form`. */
export function idempotencyKey(headers: Headers, form: RegExp, rule: string): string | undefined {
  const key = headers.get('idempotency-key');
  if (key === null) return undefined;
  if (!form.test(key)) throw invalid([{ path: 'header.idempotency-key', message: rule }]);
  return key;
}
