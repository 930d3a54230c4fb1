import { hashKey, makeKey } from '../../domain/api-key.ts';
import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { asGuid } from '../../domain/id.ts';
import type { Token } from '../../domain/records/rows.ts';
import type { RotatedTokenView } from '../../domain/records/token.ts';
import { type Principal, recordChange, type ServiceDependencies } from '../context.ts';
import { type IdempotentRequest, prepareCreation } from '../creations.ts';
import { lookUp } from '../lookup.ts';
import { isRetiring, retiringMs } from './authority.ts';
import { checkRepeatable, tokenChange, tokenView } from './tokens.ts';

type Retiring = NonNullable<Token['retiring']>;

/**
 * Throws `not_supported` for a bootstrap token, or `insufficient_role` for a token that outlives
 * the caller's.
 */
function checkRotatable({ expiresAt }: Principal, row: Token): void {
  if (row.bootstrap)
    throw new SignageError(
      'not_supported',
      `The token ${JSON.stringify(row.name)} is set by SIGNAGE_ADMIN_TOKEN: start the service with another value, or create another platform token.`,
    );
  if (expiresAt === null || (row.expiresAt != null && row.expiresAt <= expiresAt)) return;
  throw new SignageError(
    'insufficient_role',
    'A token may only rotate tokens that expire no later than itself.',
  );
}

/**
 * Returns the hash of the secret that keeps working alongside the new one, and the time at which it
 * expires. While the current secret is unused, its holder may not have received it, so the earlier
 * secret must keep working.
 */
function retiringOf({ hash, retiring, firstUsedAt }: Token, nowMs: number): Retiring {
  const isEarlierAlive = retiring && firstUsedAt === null && isRetiring(retiring, nowMs);
  return { hash: isEarlierAlive ? retiring.hash : hash, until: nowMs + retiringMs };
}

/** Rotates management tokens (docs/protocol.md §5.13). */
export function makeTokenRotation(deps: ServiceDependencies) {
  /**
   * Gives a token a new secret. The old secret works until the new one is first used, but for at
   * most 24 hours. Until then, the same `Idempotency-Key` gets the same secret. Throws
   * `token_not_found`, `insufficient_role`, `not_supported`, `idempotency_key_reused` or
   * `not_repeatable`.
   */
  return async function rotate(
    principal: Principal,
    id: string,
    request?: IdempotentRequest,
  ): Promise<RotatedTokenView> {
    const ofToken = request && { ...request, operation: `${request.operation} ${asGuid(id)}` };
    const begin = await prepareCreation(deps, principal, ofToken);
    const { row, token, until } = await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'token', id);
      checkRotatable(principal, row);
      const creation = await begin(tx);
      const token = makeKey('mak_', creation.random);
      if (creation.earlierId !== undefined) {
        checkRepeatable(row, token);
        return { row, token, until: row.retiring?.until ?? tx.now };
      }
      const retiring = retiringOf(row, tx.now);
      await tx.put('tokens', { ...row, hash: hashKey(token), firstUsedAt: null, retiring });
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, tokenChange('rotate', row));
      return { row, token, until: retiring.until };
    });
    const view = tokenView(row, await deps.store.marks('token', row.id));
    return { ...view, token, oldTokenUntil: iso(until) };
  };
}
