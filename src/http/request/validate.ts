import type { z } from 'zod';
import { type FieldError, invalid, maxErrors } from '../../domain/error.ts';
import {
  isEventBatch,
  maxBatch,
  type TelemetryEvent,
  withoutUnknownMembers,
} from '../../domain/events/event.ts';
import { changedNumbers } from '../../domain/json/changed-numbers.ts';
import { protoMembers } from '../../domain/json/proto-members.ts';
import { jsonPointer, wrongMembers } from '../../domain/json/schema-issue.ts';
import { maskCodes } from '../../domain/typed-code.ts';
import { type SchemaName, type Schemas, schemas } from '../../wire/schemas.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Returns the path of an issue: a JSON Pointer into the body (RFC 6901), or `query.<name>`. Masks
 * codes, because paths reach the log, and a caller may send a code as a name.
 */
function pathOf(source: 'body' | 'query', path: readonly PropertyKey[]): string {
  const names = path.map((name) => maskCodes(String(name)));
  return source === 'query' ? `query.${names[0] ?? ''}` : jsonPointer(names);
}

function fieldErrors(source: 'body' | 'query', issue: z.core.$ZodIssue): FieldError[] {
  const noun = source === 'query' ? 'query parameter' : 'member';
  const wrong = wrongMembers(issue, `is not a known ${noun}: check its spelling`);
  return wrong.map(({ path, message }) => ({ path: pathOf(source, path), message }));
}

/** Maximum length of a number in a message. */
const maxShown = 100;

const wholePath = (path: string) => path;

/**
 * Returns the first error per group, at most `max` errors. `groupOf` maps the path of an error to
 * its group.
 */
function firstPerGroup(
  issues: readonly z.core.$ZodIssue[],
  source: 'body' | 'query',
  max: number,
  groupOf: (path: string) => string,
) {
  const firstErrors = new Map<string, FieldError>();
  for (const issue of issues) {
    for (const error of fieldErrors(source, issue)) {
      const group = groupOf(error.path);
      if (!firstErrors.has(group)) firstErrors.set(group, error);
      if (firstErrors.size >= max) return [...firstErrors.values()];
    }
  }
  return [...firstErrors.values()];
}

/** Validates a value. Throws `invalid_request` naming each wrong member once, up to 20. */
export function check<S extends z.ZodType>(
  schema: S,
  value: unknown,
  source: 'body' | 'query',
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(firstPerGroup(result.error.issues, source, maxErrors + 1, wholePath));
}

/** Returns the event part of a path: `/3` for `/3/timestamp`. */
const eventOf = (path: string) => path.split('/', 2).join('/');

/**
 * Validates a batch of events. Above 20 errors, it lists only the first of each event, so that a TV
 * can drop every wrong event and send the rest.
 */
function checkEvents(value: unknown): TelemetryEvent[] {
  if (isEventBatch(value)) return value;
  const { issues = [] } = schemas.eventBatch.safeParse(withoutUnknownMembers(value)).error ?? {};
  const all = firstPerGroup(issues, 'body', maxErrors + 1, wholePath);
  throw all.length <= maxErrors
    ? invalid(all)
    : invalid(firstPerGroup(issues, 'body', maxBatch, eventOf), maxBatch);
}

export function checkBody<N extends SchemaName>(name: N, value: unknown): z.output<Schemas[N]> {
  if (name === 'eventBatch') return checkEvents(value) as z.output<Schemas[N]>;
  return check<z.ZodType>(schemas[name], value, 'body') as z.output<Schemas[N]>;
}

/**
 * Throws `invalid_request` for numbers that a double cannot hold, so that none is stored as another
 * one. TVs are not refused: an event is worth more than its last digits (docs/protocol.md §1.2).
 */
function refuseChangedNumbers(text: string): void {
  const changed = changedNumbers(text);
  if (changed.length === 0) return;
  throw invalid(
    changed.slice(0, maxErrors + 1).map(({ path, written }) => ({
      path: jsonPointer(path),
      message: `does not fit into a number of JSON: write it as text, "${written.slice(0, maxShown)}"`,
    })),
  );
}

/** Throws `invalid_request` for members that the parser drops (docs/protocol.md §1.1). */
function refuseProtoMembers(text: string): void {
  const paths = protoMembers(text);
  if (paths.length === 0) return;
  throw invalid(
    paths.slice(0, maxErrors + 1).map((path) => ({
      path: jsonPointer(path),
      message: 'is a name that is not kept: choose another',
    })),
  );
}

/** Throws `invalid_request` for a body of JSON that could not be kept as it is. */
export function refuseLosses(body: Uint8Array): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  refuseChangedNumbers(text);
  refuseProtoMembers(text);
}

/** Returns the query as an object. A repeated name becomes a list. */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of search) {
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}

/**
 * Returns whether a header occurs more than once. Node joins the values of a repeated header by
 * commas.
 */
function isRepeated({ incoming }: RequestContext, name: string): boolean {
  const names = incoming?.rawHeaders.filter((_, at) => at % 2 === 0) ?? [];
  return names.filter((one) => one.toLowerCase() === name).length > 1;
}

const secretKey = /^[\x21-\x7e]{16,255}$/;
const secretRule = 'must be 16 to 255 visible ASCII characters, random, such as a UUID';

/**
 * Returns the `Idempotency-Key` of a request that creates a record, or whose response has a secret.
 */
export function secretIdempotencyKey(request: RequestContext): string | undefined {
  return idempotencyKey(request, secretKey, secretRule);
}

/**
 * Returns the `Idempotency-Key` of a request, if any. Throws `invalid_request` if the header does
 * not match `form` or occurs twice.
 */
export function idempotencyKey(
  request: RequestContext,
  form: RegExp,
  rule: string,
): string | undefined {
  const name = 'idempotency-key';
  const key = request.header(name);
  if (key === undefined) return undefined;
  if (key.includes(',') && isRepeated(request, name))
    throw invalid([{ path: `header.${name}`, message: 'must be sent once' }]);
  if (!form.test(key)) throw invalid([{ path: 'header.idempotency-key', message: rule }]);
  return key;
}

/**
 * Returns the `X-Device-Time` of a request, in Unix epoch milliseconds. Returns `undefined` for an
 * invalid value, because it is no reason to reject events (docs/protocol.md §2.5).
 */
export function deviceTime(request: RequestContext): number | undefined {
  const text = request.header('x-device-time') ?? '';
  const time = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(time) ? time : undefined;
}
