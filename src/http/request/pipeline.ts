import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
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
import type { ListLimit, ListTurn } from '../admission/list-limit.ts';
import { noBody, parseBody, type ReadBody, readBytes } from './body.ts';
import type { Ctx } from './request-context.ts';
import { check, checkBody, queryObject } from './validate.ts';

/** What a handler answers; the status is the operation's own unless said. */
export interface Reply {
  /** Sent as JSON, or as it is when it is text, bytes or a stream already. */
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

/** A request that has passed every check its operation names (docs/protocol.md §1.3). */
export interface Call<K extends OperationId> {
  caller: CallerOf<Operations[K]>;
  /** The record in the path, or the code. */
  id: string;
  query: Named<Operations[K], 'query', undefined>;
  body: Named<Operations[K], 'body', undefined>;
  /** The body as it was sent. */
  sent: ReadBody;
  context: Ctx;
  /** Of a list: its place among those that the token reads at a time. */
  turn: ListTurn | undefined;
}

export type Handler<K extends OperationId> = (call: Call<K>) => Promise<Reply>;
export type Handlers = { [K in OperationId]: Handler<K> };

export const defaultBodyLimit = 1024 * 1024;
/** What works without a tenant: the platform's own affairs, and asking who one is. */
const tenantOptional = (operation: Operation, id: OperationId) =>
  operation.access === 'platform' || id === 'getMe';

/** Reads a body of at most the operation's size, and calls `arrived` between its arrival and the first look at it. */
async function readBody(
  operation: Operation,
  { req, env }: Ctx,
  arrived: () => Promise<void>,
): Promise<ReadBody> {
  if (!operation.body) return noBody;
  const bytes = await readBytes(req.raw, operation.bodyLimit ?? defaultBodyLimit, env?.incoming);
  await arrived();
  const sent = parseBody(
    bytes,
    req.header('content-type'),
    req.header('content-encoding'),
    operation.partLimit,
  );
  if (sent.json === undefined && !operation.bodyOptional)
    throw new SignageError('invalid_json', 'A JSON body is needed here.');
  return sent;
}

async function authenticate(
  services: Services,
  operation: Operation,
  id: OperationId,
  context: Ctx,
) {
  const header = (name: string) => context.req.header(name);
  const { access } = operation;
  if (access === 'public') return undefined;
  if (access === 'device') {
    const call = { id: context.req.param('id') ?? '', onlyReads: operation.method === 'GET' };
    return services.deviceAuth(deviceKeyHeader(header('authorization')), call, context.var.origin);
  }
  const credentials = { authorization: header('authorization'), tenant: header('x-tenant-id') };
  const demand = {
    role: access,
    tenantOptional: tenantOptional(operation, id),
    wholeTenant: operation.wholeTenant ?? false,
    operation: id,
  };
  return services.managementAuth(credentials, demand, context.var.origin);
}

/** Whether an answer for a manager has items, and may be large. */
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
 * Makes the route of one operation, with the checks in the order of docs/protocol.md §1.3: credential, role, size, content type, JSON, the
 * record in the path, query and body; what is left to the handler is the state. The credential is checked again after a body that arrived late.
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
    const named = context.req.param('id') ?? context.req.param('code') ?? '';
    if (operation.record)
      await services.checkRecord(caller as TenantCaller, operation.record, named);
    const query =
      querySchema &&
      check(querySchema, queryObject(new URL(context.req.url).searchParams), 'query');
    const body = bodySchema && checkBody(bodySchema, sent.json);
    const turn = isLimited
      ? await enterList(lists, caller as TenantCaller, query, context)
      : undefined;
    try {
      const reply = await handler({
        caller,
        id: named,
        query,
        body,
        sent,
        context,
        turn,
      } as Call<K>);
      return respond(operation, reply);
    } catch (error) {
      const isDenied = error instanceof SignageError && error.code === 'insufficient_role';
      if (isDenied && caller && 'actor' in caller)
        services.denials.record(caller as TenantCaller, id);
      throw error;
    } finally {
      // A mounted `fetch` tells nobody when its answer has been read.
      if (!context.env?.outgoing) turn?.end();
    }
  };
}

function enterList(
  lists: ListLimit,
  caller: TenantCaller,
  query: unknown,
  { env }: Ctx,
): Promise<ListTurn> {
  const isHeld = (query as { waitSeconds?: number } | undefined)?.waitSeconds !== undefined;
  return lists.enter(caller.actor.id as string, isHeld, env ?? {});
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
