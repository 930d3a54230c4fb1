import type { z } from 'zod';
import { SignageError } from '../domain/error.ts';
import type { TenantCaller } from '../service/context.ts';
import type { DeviceCaller } from '../service/device-auth.ts';
import type { Services } from '../service/services.ts';
import { shownKey } from '../service/shown-key.ts';
import { type Operation, type OperationId, type Operations, operations } from '../wire/operations.ts';
import { type Schemas, schemas } from '../wire/schemas.ts';
import type { Ctx } from './arrival.ts';
import { noBody, type ReadBody, readBody } from './body.ts';
import { check, checkBody, queryObject } from './validate.ts';

/** What a handler answers; the status is the operation's own unless said. */
export interface Reply {
  /** Sent as JSON, or as it is when it is text, bytes or a stream already. */
  body?: unknown;
  status?: number;
  headers?: Record<string, string>;
}

type Named<O, K extends string, F> = O extends { [P in K]: infer N extends keyof Schemas } ? z.output<Schemas[N]> : F;
type CallerOf<O> = O extends { access: 'device' } ? DeviceCaller : O extends { access: 'public' } ? undefined : TenantCaller;

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
}

export type Handler<K extends OperationId> = (call: Call<K>) => Promise<Reply>;
export type Handlers = { [K in OperationId]: Handler<K> };

export const defaultBodyLimit = 1024 * 1024;
/** What works without a tenant: the platform's own affairs, and asking who one is. */
const tenantOptional = (operation: Operation, id: OperationId) => operation.access === 'platform' || id === 'getMe';

async function authenticate(services: Services, operation: Operation, id: OperationId, context: Ctx) {
  const header = (name: string) => context.req.header(name);
  const { access } = operation;
  if (access === 'public') return undefined;
  if (access === 'device') {
    const call = { id: context.req.param('id') ?? '', onlyReads: operation.method === 'GET' };
    return services.deviceAuth(shownKey(header('authorization')), call, context.var.origin);
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

/**
 * Makes the route of one operation, with the checks in the order of docs/protocol.md §1.3: credential, role, size, content type, JSON, the
 * record in the path, query and body; what is left to the handler is the state.
 */
export function makeRoute<K extends OperationId>(services: Services, id: K, handler: Handler<K>) {
  const operation: Operation = operations[id];
  const { body: bodySchema } = operation;
  const querySchema = operation.query && schemas[operation.query];

  return async (context: Ctx): Promise<Response> => {
    context.set('operation', id);
    const caller = await authenticate(services, operation, id, context);
    const sent = bodySchema ? await readBody(context.req.raw, operation.bodyLimit ?? defaultBodyLimit, context.env?.incoming) : noBody;
    if (bodySchema && sent.json === undefined && !operation.bodyOptional)
      throw new SignageError('invalid_json', 'A JSON body is needed here.');
    const named = context.req.param('id') ?? context.req.param('code') ?? '';
    if (operation.record) await services.checkRecord(caller as TenantCaller, operation.record, named);
    const query = querySchema && check(querySchema, queryObject(new URL(context.req.url).searchParams), 'query');
    const body = bodySchema && checkBody(bodySchema, sent.json);
    try {
      return respond(operation, await handler({ caller, id: named, query, body, sent, context } as Call<K>));
    } catch (error) {
      const isDenied = error instanceof SignageError && error.code === 'insufficient_role';
      if (isDenied && caller && 'actor' in caller) services.denials.record(caller as TenantCaller, id);
      throw error;
    }
  };
}

function respond(operation: Operation, { body, status = operation.status, headers = {} }: Reply): Response {
  if (body === undefined || body === null) return new Response(null, { status, headers });
  const content = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream ? body : JSON.stringify(body);
  return new Response(content, { status, headers: { 'Content-Type': 'application/json', ...headers } });
}
