import { createHmac } from 'node:crypto';
import { derivedRandom } from '../domain/api-key.ts';
import { hourMs, type Random } from '../domain/clock.ts';
import { hasCode, SignageError } from '../domain/error.ts';
import type { Creation } from '../domain/records/rows.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Principal, ServiceDependencies } from './context.ts';
import { type LookupKind, lookUp } from './lookup.ts';

/** An `Idempotency-Key` and the request that it identifies. */
export interface IdempotentRequest {
  /** Name of the operation. */
  operation: string;
  /** At least 16 random characters. It protects secrets, which are derived from it. */
  key: string;
  /** The body as sent. */
  body: Uint8Array;
}

/** The creation of one record, in its transaction. */
interface OngoingCreation {
  /**
   * Id of the row that an earlier request with the same key created. `undefined`: this is the first
   * request.
   */
  earlierId: string | undefined;
  /** Source of secrets. With an `Idempotency-Key`, a repeat gets the same bytes. */
  random: Random;
  /** Remembers the created row for repeats. */
  remember(recordId: string): Promise<void>;
}

/** Begins a creation inside its transaction. See `prepareCreation`. */
export type BeginCreation = (tx: Tx) => Promise<OngoingCreation>;

/** Retention of creations (docs/protocol.md §5.11). */
export const creationRetentionMs = 24 * hourMs;
/** Number of creations that a token keeps. Beyond it, the oldest are deleted, 100 at a time. */
const keptPerToken = 10_000;
const deletedAtOnce = 100;

function hmac(secret: Uint8Array, purpose: string, content: string | Uint8Array): string {
  return createHmac('sha256', secret).update(`${purpose}\n`).update(content).digest('hex');
}

/** Returns creations to delete, so that a token keeps a limited number. */
async function surplusCreations(
  store: Pick<Store, 'read' | 'list'>,
  tokenId: string,
): Promise<Creation[]> {
  const kept = await store.read.count('creations', 'tokenId', tokenId);
  if (kept < keptPerToken + deletedAtOnce) return [];
  return (await store.list('creations', { where: { tokenId }, limit: deletedAtOnce })).items;
}

/**
 * Prepares the creation of a record for a caller. The returned function begins the creation inside
 * the transaction `tx`. If the same token repeats a request, `earlierId` names the record that the
 * first request created. Throws `idempotency_key_reused` if the key was used with another body.
 *
 * @example
 * const begin = await prepareCreation(deps, caller, request);
 * return deps.write(caller, async (tx) => {
 *   const creation = await begin(tx);
 *   if (creation.earlierId !== undefined) return repeat(tx, creation.earlierId);
 *   …
 *   await creation.remember(row.id);
 * });
 */
export async function prepareCreation(
  { store, random, newId }: ServiceDependencies,
  { actor, tenantId }: Pick<Principal, 'actor' | 'tenantId'>,
  request: IdempotentRequest | undefined,
): Promise<BeginCreation> {
  if (request === undefined || actor.kind === 'system')
    return async () => ({ earlierId: undefined, random, remember: async () => {} });
  const { operation, key, body } = request;
  const tokenId = actor.id;
  const scope = JSON.stringify([tenantId, tokenId, operation, key]);
  const requestMac = hmac(store.secret, 'creation-request', scope);
  const bodyMac = hmac(store.secret, 'creation-body', body);
  const surplus = await surplusCreations(store, tokenId);

  return async (tx) => {
    const found = await tx.find('creations', 'request', requestMac);
    const earlier = found && tx.now - found.createdAt < creationRetentionMs ? found : undefined;
    if (earlier && earlier.body !== bodyMac)
      throw new SignageError(
        'idempotency_key_reused',
        'This Idempotency-Key was used with another body: use a new key for each creation.',
      );
    const id = earlier?.id ?? newId();
    return {
      earlierId: earlier?.recordId,
      random: derivedRandom(store.secret, key, `creation\n${id}`),
      async remember(recordId) {
        for (const old of found ? [found, ...surplus] : surplus)
          await tx.delete('creations', old.id);
        const createdAt = tx.now;
        const row = { id, tokenId, request: requestMac, body: bodyMac, recordId, createdAt };
        await tx.put('creations', row);
      },
    };
  };
}

/** Returns the error for a repeat whose response no longer exists. `why` completes a sentence. */
export function notRepeatable(why: string, existingId?: string): SignageError {
  return new SignageError(
    'not_repeatable',
    `This request was done before with the same Idempotency-Key, but its answer cannot be repeated: ${why}`,
    existingId === undefined ? {} : { existingId },
  );
}

/** Returns the record that an earlier request created, as it is now. Throws `not_repeatable`. */
export async function lookUpCreated<K extends LookupKind>(
  tx: Tx,
  principal: Principal,
  kind: K,
  id: string,
) {
  try {
    return await lookUp(tx, principal, kind, id);
  } catch (error) {
    if (!hasCode(error, `${kind}_not_found`)) throw error;
    throw notRepeatable(`the ${kind} was deleted. Use a new key to create another.`);
  }
}
