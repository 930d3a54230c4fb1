import type { IdempotentRequest } from '../../service/creations.ts';
import type { OperationId } from '../../wire/operations/operations.ts';
import type { Call, HandlerReply } from '../request/pipeline.ts';
import { secretIdempotencyKey } from '../request/validate.ts';

/** Replies with the result of a call. */
export async function result(work: Promise<unknown>): Promise<HandlerReply> {
  return { body: await work };
}

/** Replies without a body after a call. */
export async function done(work: Promise<void>): Promise<HandlerReply> {
  await work;
  return {};
}

/** Replies with a record, and its revision as `ETag`. */
export async function revised<T>(etagOf: (record: T) => string, work: Promise<T>) {
  const body = await work;
  return { body, headers: { ETag: etagOf(body) } };
}

/** Replies with a new record, its revision as `ETag`, and its path as `Location`. */
export async function created<T extends { id: string }>(
  collection: string,
  etagOf: (record: T) => string,
  work: Promise<T>,
): Promise<HandlerReply> {
  const { body, headers } = await revised(etagOf, work);
  return { body, headers: { ...headers, Location: `/v1/${collection}/${body.id}` } };
}

/**
 * Returns the `Idempotency-Key` of a request, with the operation and body that it stands for.
 * Returns `undefined` without the header.
 */
export function idempotentRequest(
  operation: OperationId,
  { request, sent }: Pick<Call<OperationId>, 'request' | 'sent'>,
): IdempotentRequest | undefined {
  const key = secretIdempotencyKey(request);
  return key === undefined ? undefined : { operation, key, body: sent.bytes };
}
