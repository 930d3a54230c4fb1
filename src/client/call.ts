import type { z } from 'zod';
import { SignageError } from '../domain/error.ts';
import type { Operation } from '../wire/operation.ts';
import type { OperationId, Operations } from '../wire/operations/operations.ts';
import type { SchemaName, Schemas } from '../wire/schemas.ts';

type ParamName<P extends string> = P extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | ParamName<`/${Tail}`>
    : Rest
  : never;

type Sent<N> = N extends SchemaName ? z.input<Schemas[N]> : never;
type QueryValue<V> = unknown extends V ? string | number : V;
type QueryInput<N> = { [K in keyof Sent<N>]?: QueryValue<Sent<N>[K]> };

type ParamsPart<O> = O extends { path: infer P extends string }
  ? [ParamName<P>] extends [never]
    ? object
    : { params: Record<ParamName<P>, string> }
  : object;
type QueryPart<O> = O extends { query: infer N } ? { query?: QueryInput<N> } : object;
type BodyPart<O> = O extends { body: infer N }
  ? O extends { bodyOptional: true }
    ? { body?: Sent<N> }
    : { body: Sent<N> }
  : object;
type KeyPart<O> = O extends { headers: readonly ['Idempotency-Key'] }
  ? { idempotencyKey?: string }
  : object;

/** The input of an operation: `query`, `body`, and `params` with the parameters of its path. */
export type CallInput<I extends OperationId> = ParamsPart<Operations[I]> &
  QueryPart<Operations[I]> &
  BodyPart<Operations[I]> &
  KeyPart<Operations[I]> & {
    /** Additional request headers. */
    headers?: Record<string, string>;
    /** Aborts the call, which then rejects with `interrupted`. */
    signal?: AbortSignal | undefined;
    /** Maximum number of attempts, the first included. Overrides the client's `retry.attempts`. */
    attempts?: number | undefined;
  };

/** The arguments of a call. The input is optional if none of its members is required. */
export type CallArguments<I extends OperationId> =
  object extends CallInput<I> ? [input?: CallInput<I>] : [input: CallInput<I>];

/** The response body of an operation; `undefined` if it has none. */
export type CallAnswer<I extends OperationId> = Operations[I] extends {
  answer: infer N extends SchemaName;
}
  ? z.output<Schemas[N]>
  : undefined;

/** The ids of the paginated operations. */
export type ListId = {
  [I in OperationId]: CallAnswer<I> extends { items: unknown[]; nextCursor: string | null }
    ? I
    : never;
}[OperationId];
/** The item type of a paginated operation. */
export type ListItem<I extends ListId> = CallAnswer<I> extends { items: (infer T)[] } ? T : never;

/** The input of a call, without the types of its operation. */
export interface PlainInput {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  attempts?: number | undefined;
}

/**
 * URL parsers resolve `.` and `..`, even if escaped, so the request would have another path. An
 * empty segment names no record.
 */
const unusableSegments = ['', '.', '..'];

function segment(name: string, value: string | undefined): string {
  if (value === undefined || unusableSegments.includes(value)) {
    throw new SignageError(
      'invalid_request',
      `${name} is required, and must not be empty, "." or "..".`,
      {
        errors: [{ path: `path.${name}`, message: 'is required' }],
      },
    );
  }
  return encodeURIComponent(value);
}

function queryText(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) search.append(name, String(one));
  }
  const text = search.toString();
  return text && `?${text}`;
}

/**
 * Returns the path and query of a call. Throws `invalid_request` if a path parameter is missing,
 * empty, `.` or `..`.
 *
 * @example requestPath(operations.getScreen, { params: { id: '01…' } }) // '/v1/screens/01…'
 */
export function requestPath(
  operation: Pick<Operation, 'path'>,
  { params = {}, query = {} }: PlainInput,
): string {
  const extra = Object.keys(params).find((name) => !new RegExp(`:${name}\\b`).test(operation.path));
  if (extra !== undefined)
    throw new SignageError('invalid_option', `${operation.path} has no parameter ${extra}.`);
  return (
    operation.path.replaceAll(/:(\w+)/g, (_, name: string) => segment(name, params[name])) +
    queryText(query)
  );
}
