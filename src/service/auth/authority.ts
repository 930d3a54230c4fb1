import { dayMs, isBetween, iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { mayAct } from '../../domain/records/role.ts';
import type { Token } from '../../domain/records/rows.ts';
import type { Reader } from '../../store/store.ts';
import type {
  DevicePrincipal,
  Principal,
  ServiceDependencies,
  SystemDependencies,
} from '../context.ts';
import { isInScope } from '../lookup.ts';
import { checkKeyHolder } from './device-keys.ts';

export const unknownToken = () =>
  new SignageError(
    'credential_invalid',
    'Unknown management token: check it, or ask for a new one.',
  );

/** The longest time for which a replaced secret keeps working (docs/protocol.md §5.13). */
export const retiringMs = dayMs;

/** Returns whether a replaced secret still works, if its successor was not used yet. */
export const isRetiring = ({ until }: NonNullable<Token['retiring']>, nowMs: number): boolean =>
  isBetween(nowMs, until - retiringMs, until);

/**
 * Returns whether the token has a secret with this hash. A retiring secret counts until the first
 * use of its successor (docs/protocol.md §5.13).
 */
function hasSecret({ hash, retiring, firstUsedAt }: Token, wanted: string, nowMs: number): boolean {
  if (wanted === hash) return true;
  return wanted === retiring?.hash && firstUsedAt === null && isRetiring(retiring, nowMs);
}

/**
 * Throws `credential_invalid` for an unknown token or a wrong secret, or `credential_expired` for
 * an expired token.
 */
export function checkToken(
  token: Token | undefined,
  hash: string | null,
  nowMs: number,
): asserts token is Token {
  if (!token || hash === null || !hasSecret(token, hash, nowMs)) throw unknownToken();
  const { name, expiresAt } = token;
  if (expiresAt == null || expiresAt > nowMs) return;
  const detail = `The token ${JSON.stringify(name)} has expired: it was valid until ${iso(expiresAt)}. Ask an admin for a new one.`;
  throw new SignageError('credential_expired', detail);
}

async function checkManager(
  reader: Reader,
  { actor, tokenHash, role, venueIds }: Principal,
  nowMs: number,
): Promise<void> {
  if (actor.kind === 'system') return;
  const token = await reader.get('tokens', actor.id);
  checkToken(token, tokenHash, nowMs);
  if (mayAct(token.role, role) && isInScope({ venueIds: token.venueIds }, venueIds ?? [])) return;
  throw new SignageError(
    'insufficient_role',
    `The token ${JSON.stringify(token.name)} has fewer rights than when this request arrived.`,
  );
}

/**
 * Rechecks a caller's credential: it must still be valid, and have at least the rights that it had
 * when the request arrived. Throws the same errors as authentication.
 */
export async function checkAuthority(
  reader: Reader,
  principal: Principal | DevicePrincipal,
  nowMs: number,
): Promise<void> {
  if ('key' in principal) checkKeyHolder(await reader.findByKeyHash(principal.key.hash));
  else await checkManager(reader, principal, nowMs);
}

/**
 * Rechecks the credential in each transaction. A request may take 15 seconds to arrive
 * (docs/protocol.md §1.3), so the credential may expire or be deleted meanwhile.
 */
export function withAuthority(system: SystemDependencies): ServiceDependencies {
  const { store } = system;
  return {
    ...system,
    write: (principal, change) =>
      store.write(async (tx) => {
        await checkAuthority(tx, principal, tx.now);
        return change(tx);
      }),
  };
}
