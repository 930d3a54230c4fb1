import { z } from 'zod';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { Precondition } from '../../domain/etags/etag.ts';
import { TwoPartBody } from '../../domain/json/two-part-body.ts';
import type { Services } from '../../service/assembly/services.ts';
import type { DevicePrincipal, Principal, TenantPrincipal } from '../../service/context.ts';
import { needsTenant } from '../../wire/operation.ts';
import {
  type Operation,
  type OperationId,
  type Operations,
  operations,
} from '../../wire/operations/operations.ts';
import { type Schemas, schemas } from '../../wire/schemas.ts';
import { checkAnnouncedBody, noBody, parseBody, type ReadBody } from './body.ts';
import type { HeldResponse, HttpResponse } from './http-response.ts';
import type { ListLimit, ListSlot } from './list-limit.ts';
import type { RequestContext } from './request-context.ts';
import { check, checkBody, queryObject, refuseLosses } from './validate.ts';

/** Result of a handler. `status` defaults to the status of the operation. */
export interface HandlerReply {
  /**
   * Body, sent as JSON. Strings, bytes and streams are sent unchanged. `undefined` and `null` mean
   * no body.
   */
  body?: unknown;
  /** Content type of the body. Default: `application/json`. */
  type?: string;
  status?: number;
  headers?: Record<string, string>;
}

type ParsedPart<O, K extends string, F> = O extends { [P in K]: infer N extends keyof Schemas }
  ? z.output<Schemas[N]>
  : F;
type CallerOf<O> = O extends { access: 'device' }
  ? DevicePrincipal
  : O extends { access: 'public' }
    ? undefined
    : TenantPrincipal;
type AnyPrincipal = DevicePrincipal | Principal | undefined;

/** A request that has passed all checks of its operation (docs/protocol.md §1.3). */
export interface Call<K extends OperationId> {
  principal: CallerOf<Operations[K]>;
  /** Id or code in the path. */
  id: string;
  query: ParsedPart<Operations[K], 'query', undefined>;
  body: ParsedPart<Operations[K], 'body', undefined>;
  sent: ReadBody;
  request: RequestContext;
  /** `If-Match` and `If-None-Match` of a change. */
  precondition: Precondition;
  /** The concurrency slot of the token. `undefined` if the operation is not a list. */
  slot: ListSlot | undefined;
}

export type Handler<K extends OperationId> = (
  call: Call<K>,
) => Promise<HandlerReply | HeldResponse>;
export type Handlers = { [K in OperationId]: Handler<K> };

export const defaultBodyLimit = 1024 * 1024;

function makeAuthenticate(
  services: Services,
  id: OperationId,
): (request: RequestContext) => Promise<AnyPrincipal> {
  const operation: Operation = operations[id];
  const { access, method, wholeTenant = false } = operation;
  if (access === 'public') return async () => undefined;
  if (access === 'device') {
    const onlyReads = method === 'GET';
    return (request) =>
      services.deviceAuth(
        { authorization: request.header('authorization'), keyHash: request.keyHash },
        { id: request.id, onlyReads },
        request.client,
      );
  }
  const tenantOptional = !needsTenant(operation);
  const requirements = { role: access, tenantOptional, wholeTenant, operation: id };
  return (request) => {
    const authorization = request.header('authorization');
    const tenant = request.header('x-tenant-id');
    return services.managementAuth({ authorization, tenant }, requirements, request.client);
  };
}

/** Returns whether the response of a management operation is a list, which may be large. */
export function isList({ method, path, answer }: Operation): boolean {
  const schema = answer && schemas[answer];
  return (
    method === 'GET' &&
    path.startsWith('/v1/') &&
    schema instanceof z.ZodObject &&
    'items' in schema.shape
  );
}

function parseSent(operation: Operation, request: RequestContext, bytes: Uint8Array): ReadBody {
  const sent = parseBody(
    bytes,
    request.header('content-type'),
    request.header('content-encoding'),
    operation.partLimit,
  );
  if (sent.json === undefined && !operation.bodyOptional)
    throw new SignageError('invalid_json', 'A JSON body is required.');
  return sent;
}

/**
 * No cache may keep responses of the management API, because they may contain secrets and personal
 * data.
 */
export const noStore = { 'Cache-Control': 'no-store' };

function responseBody(body: unknown): HttpResponse['body'] {
  if (body === undefined || body === null) return null;
  const isContent =
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof TwoPartBody ||
    body instanceof ReadableStream;
  return isContent ? body : JSON.stringify(body);
}

/** Returns a function that converts the replies of an operation to answers. */
function makeAnswerOf({
  path,
  status: usual,
}: Operation): (reply: HandlerReply | HeldResponse) => HttpResponse | HeldResponse {
  const isManagement = path.startsWith('/v1/');
  return (reply) => {
    if ('hold' in reply) return reply;
    const { body, type = 'application/json', status = usual, headers = {} } = reply;
    return {
      status,
      headers: isManagement ? { ...noStore, ...headers } : headers,
      type,
      body: responseBody(body),
    };
  };
}

/**
 * Returns a function that runs one operation for a request, with the checks in the order of
 * docs/protocol.md §1.3. The checks cover the credential, role, body size, content type, JSON
 * syntax, the record in the path, the query and the members of the body. The handler only checks
 * state. The credential is checked again after a body that was not yet buffered, and after a wait
 * for a list slot.
 */
export function makeOperation<K extends OperationId>(
  services: Services,
  id: K,
  handler: Handler<K>,
  lists?: ListLimit,
): (request: RequestContext) => Promise<HttpResponse | HeldResponse> {
  const operation: Operation = operations[id];
  const authenticate = makeAuthenticate(services, id);
  const answerOf = makeAnswerOf(operation);
  const isLimited = isList(operation) || operation.searches === true;
  const { body: bodySchema, record } = operation;
  const querySchema = operation.query && schemas[operation.query];

  function readQuery(request: RequestContext): unknown {
    const query = querySchema && check(querySchema, queryObject(request.query()), 'query');
    // A long poll waits for an event, so its duration is no sign of overload.
    if (isLongPoll(query)) request.incoming?.admission?.end();
    return query;
  }

  return async (request) => {
    const wasComplete = request.incoming?.complete ?? false;
    let principal = await authenticate(request);
    request.incoming?.admission?.verified();
    let sent = noBody;
    if (bodySchema) {
      const limit = operation.bodyLimit ?? defaultBodyLimit;
      checkAnnouncedBody(request, limit);
      const bytes = await request.readBody(limit);
      if (!wasComplete) principal = await authenticate(request);
      sent = parseSent(operation, request, bytes);
    }
    if (record) await services.checkRecord(principal as TenantPrincipal, record, request.id);
    const query = readQuery(request);
    const body = bodySchema && checkBody(bodySchema, sent.json);
    if (!['public', 'device'].includes(operation.access)) refuseLosses(sent.bytes);
    const slot = isLimited
      ? await lists?.enter(
          (principal as TenantPrincipal).actor.id as string,
          isLongPoll(query),
          request,
        )
      : undefined;
    try {
      if (slot?.hasWaited) principal = await authenticate(request);
      const precondition = preconditionOf(request);
      const { id } = request;
      const call = { principal, id, query, body, sent, request, precondition, slot } as Call<K>;
      return answerOf(await handler(call));
    } catch (error) {
      if (hasCode(error, 'insufficient_role') && principal && 'actor' in principal)
        services.denials.record(principal, id);
      throw error;
    } finally {
      slot?.settle();
      // A mounted `fetch` does not report when its response has been read.
      if (!request.outgoing) slot?.close();
    }
  };
}

/** Returns the headers `If-Match` and `If-None-Match` of a request. */
function preconditionOf(request: RequestContext): Precondition {
  return {
    ifMatch: request.header('if-match'),
    ifNoneMatch: request.header('if-none-match'),
  };
}

function isLongPoll(query: unknown): boolean {
  return (query as { waitSeconds?: number } | undefined)?.waitSeconds !== undefined;
}
