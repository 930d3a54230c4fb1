import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
import type { Precondition } from '../../domain/etag.ts';
import { deviceKeyHeader } from '../../service/auth/device-key-header.ts';
import type { DeviceCaller, TenantCaller } from '../../service/context.ts';
import type { Services } from '../../service/services.ts';
import {
  type Operation,
  type OperationId,
  type Operations,
  operations,
} from '../../wire/operations.ts';
import { type Schemas, schemas } from '../../wire/schemas.ts';
import type { ListLimit, ListSlot } from '../admission/list-limit.ts';
import { noBody, parseBody, type ReadBody, readBytes } from './body.ts';
import type { Ctx } from './request-context.ts';
import { check, checkBody, queryObject } from './validate.ts';

/** Result of a handler. Default status: the operation's own. */
export interface Reply {
  /** Sent as JSON. Text, bytes and streams are sent unchanged. */
  body?: unknown;
  status?: number;
  headers?: Record<string, string>;
}

type Named<O, K extends string, F> = O extends { [P in K]: infer N extends keyof Schemas }
  ? z.output<Schemas[N]>
  : F;
type CallerOf<O> = O extends { access: 'device' }
  ? DeviceCaller
  : O extends { access: 'public' }
    ? undefined
    : TenantCaller;

/** A request that has passed all checks of its operation (docs/protocol.md §1.3). */
export interface Call<K extends OperationId> {
  caller: CallerOf<Operations[K]>;
  /** The id or code in the path. */
  id: string;
  query: Named<Operations[K], 'query', undefined>;
  body: Named<Operations[K], 'body', undefined>;
  /** The body as sent. */
  sent: ReadBody;
  context: Ctx;
  /** `If-Match` and `If-None-Match` of a change. */
  precondition: Precondition;
  /** For lists: the place among the concurrent lists of the token. */
  slot: ListSlot | undefined;
}

export type Handler<K extends OperationId> = (call: Call<K>) => Promise<Reply>;
export type Handlers = { [K in OperationId]: Handler<K> };

export const defaultBodyLimit = 1024 * 1024;
/** Operations that need no tenant: those of the platform, and `getMe`. */
const tenantOptional = (operation: Operation, id: OperationId) =>
  operation.access === 'platform' || id === 'getMe';

/**
 * Reads a body of at most the operation's size. Calls `onBuffered` after reading and before
 * parsing.
 */
async function readBody(
  operation: Operation,
  { req, env }: Ctx,
  onBuffered: () => Promise<void>,
): Promise<ReadBody> {
  if (!operation.body) return noBody;
  const bytes = await readBytes(req.raw, operation.bodyLimit ?? defaultBodyLimit, env?.incoming);
  await onBuffered();
  const sent = parseBody(
    bytes,
    req.header('content-type'),
    req.header('content-encoding'),
    operation.partLimit,
  );
  if (sent.json === undefined && !operation.bodyOptional)
    throw new SignageError('invalid_json', 'A JSON body is required.');
  return sent;
}

async function authenticate(
  services: Services,
  operation: Operation,
  id: OperationId,
  context: Ctx,
) {
  const getHeader = (name: string) => context.req.header(name);
  const { access } = operation;
  if (access === 'public') return undefined;
  if (access === 'device') {
    const call = { id: context.req.param('id') ?? '', onlyReads: operation.method === 'GET' };
    return services.deviceAuth(
      deviceKeyHeader(getHeader('authorization')),
      call,
      context.var.client,
    );
  }
  const credentials = {
    authorization: getHeader('authorization'),
    tenant: getHeader('x-tenant-id'),
  };
  const requirement = {
    role: access,
    tenantOptional: tenantOptional(operation, id),
    wholeTenant: operation.wholeTenant ?? false,
    operation: id,
  };
  return services.managementAuth(credentials, requirement, context.var.client);
}

/** Returns whether the response of a management operation is a list, which may be large. */
function isList({ method, path, answer }: Operation): boolean {
  const schema = answer && schemas[answer];
  return (
    method === 'GET' &&
    path.startsWith('/v1/') &&
    schema instanceof z.ZodObject &&
    'items' in schema.shape
  );
}

/**
 * Returns the route of one operation, with the checks in the order of docs/protocol.md §1.3. These
 * are credential, role, size, content type, JSON, the record in the path, query and body. Only
 * checks of state are left to the handler. The credential is checked again after a body that was
 * not yet buffered, and after a wait for a place among the lists of the token.
 */
export function makeRoute<K extends OperationId>(
  services: Services,
  id: K,
  handler: Handler<K>,
  lists: ListLimit,
) {
  const operation: Operation = operations[id];
  const { body: bodySchema } = operation;
  const isLimited = isList(operation);
  const querySchema = operation.query && schemas[operation.query];

  return async (context: Ctx): Promise<Response> => {
    context.set('operation', id);
    const isComplete = context.env?.incoming?.complete ?? false;
    let caller = await authenticate(services, operation, id, context);
    const sent = await readBody(operation, context, async () => {
      if (!isComplete) caller = await authenticate(services, operation, id, context);
    });
    const pathId = context.req.param('id') ?? context.req.param('code') ?? '';
    if (operation.record)
      await services.checkRecord(caller as TenantCaller, operation.record, pathId);
    const query =
      querySchema &&
      check(querySchema, queryObject(new URL(context.req.url).searchParams), 'query');
    const body = bodySchema && checkBody(bodySchema, sent.json);
    const slot = isLimited
      ? await enterList(lists, caller as TenantCaller, query, context)
      : undefined;
    try {
      if (slot?.hasWaited) caller = await authenticate(services, operation, id, context);
      const reply = await handler({
        caller,
        id: pathId,
        query,
        body,
        sent,
        context,
        precondition: preconditionOf(context),
        slot,
      } as Call<K>);
      return respond(operation, reply);
    } catch (error) {
      const isDenied = error instanceof SignageError && error.code === 'insufficient_role';
      if (isDenied && caller && 'actor' in caller)
        services.denials.record(caller as TenantCaller, id);
      throw error;
    } finally {
      // A mounted `fetch` does not report when its response has been read.
      if (!context.env?.outgoing) slot?.end();
    }
  };
}

function preconditionOf({ req }: Ctx): Precondition {
  return { ifMatch: req.header('if-match'), ifNoneMatch: req.header('if-none-match') };
}

function enterList(
  lists: ListLimit,
  caller: TenantCaller,
  query: unknown,
  { env }: Ctx,
): Promise<ListSlot> {
  const isLongPoll = (query as { waitSeconds?: number } | undefined)?.waitSeconds !== undefined;
  return lists.enter(caller.actor.id as string, isLongPoll, env ?? {});
}

function respond(
  operation: Operation,
  { body, status = operation.status, headers = {} }: Reply,
): Response {
  if (body === undefined || body === null) return new Response(null, { status, headers });
  const content =
    typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
      ? body
      : JSON.stringify(body);
  return new Response(content, {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}
