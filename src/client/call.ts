import type { z } from 'zod';
import type { OperationId, Operations } from '../wire/operations.ts';
import type { SchemaName, Schemas } from '../wire/schemas.ts';

type ParamName<P extends string> = P extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | ParamName<`/${Tail}`>
    : Rest
  : never;

type Sent<N> = N extends SchemaName ? z.input<Schemas[N]> : never;
type QueryValue<V> = unknown extends V ? string | number : V;
type Query<N> = { [K in keyof Sent<N>]?: QueryValue<Sent<N>[K]> };

type ParamsPart<O> = O extends { path: infer P extends string }
  ? [ParamName<P>] extends [never]
    ? object
    : { params: Record<ParamName<P>, string> }
  : object;
type QueryPart<O> = O extends { query: infer N } ? { query?: Query<N> } : object;
type BodyPart<O> = O extends { body: infer N }
  ? O extends { bodyOptional: true }
    ? { body?: Sent<N> }
    : { body: Sent<N> }
  : object;
type KeyPart<O> = O extends { headers: readonly ['Idempotency-Key'] }
  ? { idempotencyKey?: string }
  : object;

/** What one operation is called with: `params` for the names in its path, `query`, `body`. */
export type CallInput<I extends OperationId> = ParamsPart<Operations[I]> &
  QueryPart<Operations[I]> &
  BodyPart<Operations[I]> &
  KeyPart<Operations[I]> & {
    /** Further request headers. */
    headers?: Record<string, string>;
    /** Breaks the call off, which then ends as `interrupted`. */
    signal?: AbortSignal | undefined;
    /** Tries in all, in place of the client's own `retry.attempts`. */
    attempts?: number | undefined;
  };

/** The input of a call, which may be left out where nothing in it is needed. */
export type CallArguments<I extends OperationId> =
  object extends CallInput<I> ? [input?: CallInput<I>] : [input: CallInput<I>];

/** What one operation answers; `undefined` where there is no body. */
export type CallAnswer<I extends OperationId> = Operations[I] extends {
  answer: infer N extends SchemaName;
}
  ? z.output<Schemas[N]>
  : undefined;

/** The operations that answer in pages, and what their pages hold. */
export type ListId = {
  [I in OperationId]: CallAnswer<I> extends { items: unknown[]; nextCursor: string | null }
    ? I
    : never;
}[OperationId];
export type ListItem<I extends ListId> = CallAnswer<I> extends { items: (infer T)[] } ? T : never;

/** A call's input with the types put aside. */
export interface PlainInput {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  attempts?: number | undefined;
}
