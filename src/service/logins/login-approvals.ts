import { makeKey } from '../../domain/api-key.ts';
import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { LoginApproval, LoginView } from '../../domain/records/login.ts';
import { pairingCodeText } from '../../domain/records/pairing-code.ts';
import type { Login } from '../../domain/records/rows.ts';
import type { TokenView } from '../../domain/records/token.ts';
import type { Reader } from '../../store/store.ts';
import { type Tokens, tokenChange, tokenView } from '../auth/tokens.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { type IdempotentRequest, lookUpCreated, prepareCreation } from '../creations.ts';
import { makeUnknownLimit } from '../guesses/unknown-limit.ts';
import { withNameConflict } from '../lookup.ts';
import { secondsLeft } from '../pairing/claims.ts';
import { isLiveLogin, loginNotFound, loginTtlMs } from './logins.ts';

/** Operations of admins on login requests: look-up, and approval (docs/protocol.md §5.20). */
export function makeLoginApprovals(deps: ServiceDependencies, tokens: Tokens) {
  const { store } = deps;
  const judge = makeUnknownLimit(store, {
    topic: 'logins',
    what: 'unknown codes of login requests',
    advice: 'ask for the code again',
  });

  /** After the approval of another tenant, the request does not exist for this caller. */
  async function find(
    reader: Reader,
    { tenantId }: Principal,
    code: string,
    nowMs: number,
  ): Promise<Login | undefined> {
    if (!pairingCodeText.safeParse(code).success) return undefined;
    const row = await reader.get('logins', code);
    if (!row || !isLiveLogin(row, nowMs)) return undefined;
    return row.grant && row.grant.tenantId !== tenantId ? undefined : row;
  }

  /** Throws `login_not_found`, or `too_many_attempts` after many look-ups of unknown codes. */
  async function checkKnown(principal: Principal, code: string): Promise<void> {
    const row = await find(store.read, principal, code, deps.clock.now());
    await judge(principal, row === undefined);
    if (!row) throw loginNotFound();
  }

  /** Throws `login_not_found`. */
  async function get(principal: Principal, code: string): Promise<LoginView> {
    const row = await find(store.read, principal, code, deps.clock.now());
    if (!row) throw loginNotFound();
    const { user, host, address, grant, createdAt } = row;
    const status = grant ? 'approved' : 'waiting';
    const expiresInSeconds = secondsLeft(row, deps.clock.now());
    return { code, status, user, host, address, createdAt: iso(createdAt), expiresInSeconds };
  }

  /**
   * Gives the asker a new token, which only the asker can read. Throws `login_not_found`,
   * `login_approved`, `not_repeatable`, and the errors of a creation of a token.
   */
  async function approve(
    principal: TenantPrincipal,
    code: string,
    { allVenues: _, ...wanted }: LoginApproval,
    request?: IdempotentRequest,
  ): Promise<TokenView> {
    tokens.checkGrant(principal, wanted);
    // The `Idempotency-Key` applies to this code only. With another code, it is a new request.
    const ofCode = request && { ...request, operation: `${request.operation} ${code}` };
    const begin = await prepareCreation(deps, principal, ofCode);
    return withNameConflict(deps, principal, 'token', wanted.name, async (tx) => {
      const login = await find(tx, principal, code, tx.now);
      if (!login) throw loginNotFound();
      const { earlierId, remember } = await begin(tx);
      if (login.grant && earlierId === login.grant.tokenId)
        return tokenView(await lookUpCreated(tx, principal, 'token', earlierId), {});
      if (login.grant)
        throw new SignageError('login_approved', 'This login request was already approved.');
      const id = deps.newId();
      // Nobody gets this secret. The first read of the asker replaces it.
      const secret = makeKey('mak_', deps.random);
      const row = await tokens.add(tx, principal, wanted, { id, secret, isRepeatable: true });
      const { tenantId } = principal;
      const expiresAt = tx.now + loginTtlMs;
      const grant = { tokenId: id, tenantId, hash: row.hash };
      await tx.put('logins', { ...login, expiresAt, grant });
      await remember(id);
      const change = tokenChange('approve', row);
      const { user, host, address } = login;
      const details = { ...change.details, code, user, host, address };
      await recordChange(deps, tx, principal, { ...change, details });
      return tokenView(row, {});
    });
  }

  return { checkKnown, get, approve };
}
