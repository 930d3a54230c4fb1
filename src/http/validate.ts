import type { z } from 'zod';
import { type FieldError, invalid } from '../domain/error.ts';
import { isEventBatch } from '../domain/event.ts';
import { type SchemaName, type Schemas, schemas } from '../wire/schemas.ts';

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

/** The same for a body, by the name of its schema. */
export function checkBody<N extends SchemaName>(name: N, value: unknown): z.output<Schemas[N]> {
  if (name === 'eventBatch' && isEventBatch(value)) return value as z.output<Schemas[N]>;
  return check<z.ZodType>(schemas[name], value, 'body') as z.output<Schemas[N]>;
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
export function idempotencyKey(key: string | null | undefined, form: RegExp, rule: string): string | undefined {
  if (key == null) return undefined;
  if (!form.test(key)) throw invalid([{ path: 'header.idempotency-key', message: rule }]);
  return key;
}
