import type { z } from 'zod';
import { type FieldError, invalid, mostErrors } from '../../domain/error.ts';
import {
  isEventBatch,
  maxBatch,
  type TelemetryEvent,
  withoutFurtherMembers,
} from '../../domain/events/event.ts';
import { type SchemaName, type Schemas, schemas } from '../../wire/schemas.ts';

const escapePointer = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** Where an issue lies: a JSON Pointer into the body (RFC 6901), or `query.<name>`. */
function pathOf(source: 'body' | 'query', path: readonly PropertyKey[]): string {
  if (source === 'query') return `query.${String(path[0] ?? '')}`;
  return path.map((part) => `/${escapePointer(String(part))}`).join('');
}

function* fieldErrors(source: 'body' | 'query', issue: z.core.$ZodIssue): Generator<FieldError> {
  if (issue.code === 'unrecognized_keys') {
    const noun = source === 'query' ? 'query parameter' : 'member';
    for (const key of issue.keys) {
      yield {
        path: pathOf(source, [...issue.path, key]),
        message: `is no ${noun} that we know: check its spelling`,
      };
    }
    return;
  }
  const message =
    issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  yield { path: pathOf(source, issue.path), message };
}

const wholePath = (path: string) => path;

/** The first complaint about each thing; no more than `most` are looked for. `thingOf` tells things apart by their paths. */
function firstOfEach(
  issues: readonly z.core.$ZodIssue[],
  source: 'body' | 'query',
  most: number,
  thingOf: (path: string) => string,
) {
  const named = new Map<string, FieldError>();
  for (const issue of issues) {
    for (const error of fieldErrors(source, issue)) {
      const thing = thingOf(error.path);
      if (!named.has(thing)) named.set(thing, error);
      if (named.size >= most) return [...named.values()];
    }
  }
  return [...named.values()];
}

/** Checks what came in against its schema; throws `invalid_request` naming each member that is wrong, once, up to 20. */
export function check<S extends z.ZodType>(
  schema: S,
  value: unknown,
  source: 'body' | 'query',
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(firstOfEach(result.error.issues, source, mostErrors + 1, wholePath));
}

/** The event that a path leads into: `/3` for `/3/timestamp`. */
const eventOf = (path: string) => path.split('/', 2).join('/');

/** Checks a batch of events. Of many complaints the error has the first about each event: TVs drop the events that it names, and send the rest. */
function checkEvents(value: unknown): TelemetryEvent[] {
  if (isEventBatch(value)) return value;
  const { issues = [] } = schemas.eventBatch.safeParse(withoutFurtherMembers(value)).error ?? {};
  const all = firstOfEach(issues, 'body', mostErrors + 1, wholePath);
  throw all.length <= mostErrors
    ? invalid(all)
    : invalid(firstOfEach(issues, 'body', maxBatch, eventOf), maxBatch);
}

/** The same for a body, by the name of its schema. */
export function checkBody<N extends SchemaName>(name: N, value: unknown): z.output<Schemas[N]> {
  if (name === 'eventBatch') return checkEvents(value) as z.output<Schemas[N]>;
  return check<z.ZodType>(schemas[name], value, 'body') as z.output<Schemas[N]>;
}

/** The query as an object: a name that is given several times becomes a list. */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of search) {
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}

/** The `Idempotency-Key` of a request, if any; throws `invalid_request` when it is not `form`. */
export function idempotencyKey(
  key: string | null | undefined,
  form: RegExp,
  rule: string,
): string | undefined {
  if (key == null) return undefined;
  if (!form.test(key)) throw invalid([{ path: 'header.idempotency-key', message: rule }]);
  return key;
}
