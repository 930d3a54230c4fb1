import { derivedRandom, hashKey, isKey, makeKey } from '../../domain/api-key.ts';
import { isBetween, minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import type { CreatedLogin, LoginCreation, LoginStatusView } from '../../domain/records/login.ts';
import { makeCode, pairingCodeText } from '../../domain/records/pairing-code.ts';
import type { Login, Token } from '../../domain/records/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';
import { reachView, tokenChange } from '../auth/tokens.ts';
import {
  type AuditActor,
  bySystem,
  type ClientInfo,
  recordChange,
  type SystemDependencies,
  system,
} from '../context.ts';
import { sourceOf } from '../guesses/guess-source.ts';
import type { TrustedSources } from '../guesses/trusted-sources.ts';
import { makeSinglePoll } from '../long-poll.ts';
import { applicantAt, makeRoom, type WaitingLimits } from '../pairing/claim-limits.ts';
import { secondsLeft } from '../pairing/claims.ts';
import { untilUnused } from '../pairing/codes.ts';

/** Time for which a request waits, and for which an approved one can be read (§5.20). */
export const loginTtlMs = 10 * minuteMs;

const loginLimits: WaitingLimits = {
  ofAddress: { trusted: 5, untrusted: 5, unknown: 50 },
  ofNetwork: { trusted: 20, untrusted: 20, unknown: 50 },
  tooMany: (whose) => `Too many login requests ${whose} wait for an admin: approve them`,
};

export const isLiveLogin = ({ createdAt, expiresAt }: Login, nowMs: number): boolean =>
  isBetween(nowMs, createdAt, expiresAt);

export const loginNotFound = () =>
  new SignageError(
    'login_not_found',
    'There is no such login request: it has expired or was ended, or the code is mistyped.',
  );

/** Whether a token outlives the request whose asker got it. */
export const wasUsed = ({ firstUsedAt }: Token): boolean => firstUsedAt !== null;

/** Ends a request. Deletes the token that was granted, unless `keeps` says otherwise. */
export async function endLogin(
  deps: Pick<SystemDependencies, 'newId'>,
  tx: Tx,
  { id, grant }: Login,
  by: AuditActor,
  keeps: (token: Token) => boolean = () => false,
): Promise<void> {
  await tx.delete('logins', id);
  const token = grant && (await tx.get('tokens', grant.tokenId));
  if (!token || keeps(token)) return;
  await tx.delete('tokens', token.id);
  await recordChange(deps, tx, by, tokenChange('delete', token));
}

/**
 * Operations of those who have no token yet: a request, the wait for its approval, and its end
 * (docs/protocol.md §5.20).
 */
export function makeLogins(deps: SystemDependencies, trustedSources: TrustedSources) {
  const { store, random, clock } = deps;
  const singlePoll = makeSinglePoll(deps);

  /**
   * Makes a request. While it lives, the same `Idempotency-Key` gets the same code and secret, with
   * the seconds that are left. Throws `too_many_attempts`.
   */
  async function create(
    body: LoginCreation,
    address: string | null,
    key: string | undefined,
  ): Promise<CreatedLogin> {
    const trusting = await trustedSources.trusting(sourceOf(address));
    const applicant = applicantAt(address, trusting, store.secret);
    const { network, shard } = applicant;
    return untilUnused((attempt) => {
      const source = key ? derivedRandom(store.secret, key, `login\n${attempt}`) : random;
      const id = makeCode(source);
      const secret = makeKey('lgn_', source);
      const tokenHash = hashKey(secret);
      return store.write(async (tx) => {
        const existing = await tx.get('logins', id);
        const made = { code: id, secret };
        if (existing && isLiveLogin(existing, tx.now)) {
          if (existing.tokenHash !== tokenHash)
            throw new SignageError('conflict', 'This code exists already.');
          return { ...made, expiresInSeconds: secondsLeft(existing, tx.now) };
        }
        if (existing) await endLogin(deps, tx, existing, bySystem, wasUsed);
        const rows = await tx.select('logins', 'shard', [shard]);
        const waiting = rows.filter((row) => row.grant === null && isLiveLogin(row, tx.now));
        const { displaced, share } = makeRoom(waiting, applicant, loginLimits, tx.now);
        for (const one of displaced) await tx.delete('logins', one.id);
        const times = { createdAt: tx.now, expiresAt: tx.now + loginTtlMs };
        const place = { address, shard, network, share };
        await tx.put('logins', { id, tokenHash, ...body, ...place, ...times, grant: null });
        return { ...made, expiresInSeconds: secondsLeft(times, tx.now) };
      });
    });
  }

  /** Returns the request if it lives and `secret` is its own. Else throws `login_not_found`. */
  async function lookUp(reader: Reader, id: string, secret: string): Promise<Login> {
    const isWellFormed = isKey('lgn_', secret) && pairingCodeText.safeParse(id).success;
    const row = isWellFormed ? await reader.get('logins', id) : undefined;
    if (row?.tokenHash !== hashKey(secret) || !isLiveLogin(row, clock.now())) throw loginNotFound();
    return row;
  }

  /** Gives the granted token this secret at the first read. Throws `login_not_found`. */
  async function handOver(grant: NonNullable<Login['grant']>, secret: string): Promise<Token> {
    const hash = hashKey(secret);
    return store.write(async (tx) => {
      const token = await tx.get('tokens', grant.tokenId);
      if (!token || token.firstUsedAt !== null || ![grant.hash, hash].includes(token.hash))
        throw loginNotFound();
      if (token.hash !== hash) await tx.put('tokens', { ...token, hash });
      return token;
    });
  }

  /** Throws `login_not_found` once the token was used, rotated or deleted. */
  async function view(row: Login, loginSecret: string): Promise<LoginStatusView> {
    const expiresInSeconds = secondsLeft(row, clock.now());
    if (!row.grant) return { status: 'waiting', expiresInSeconds, grant: null };
    const { tokenId, tenantId } = row.grant;
    // No store has the asker's secret, so nobody can derive the token from a copy of a store.
    const source = derivedRandom(store.secret, loginSecret, `granted-token\n${tokenId}`);
    const secret = makeKey('mak_', source);
    const token = await handOver(row.grant, secret);
    const tenant = await store.read.get('tenants', tenantId);
    if (!tenant) throw loginNotFound();
    const venues = (token.venueIds ?? []).map((id) => store.read.get('venues', id));
    const names = (await Promise.all(venues)).map((venue) => venue?.name ?? 'a deleted venue');
    const { name, role } = token;
    const venueNames = token.venueIds ? names : null;
    const known = { tokenId, name, role, ...reachView(token), tenantId, tenantName: tenant.name };
    const grant = { ...known, venueNames, token: secret };
    return { status: 'approved', expiresInSeconds, grant };
  }

  /**
   * Returns the status of a request. With `waitSeconds`, long-polls until it is approved. A further
   * long poll of the same request ends the previous one. Throws `login_not_found`.
   */
  async function status(
    id: string,
    secret: string,
    waitSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<LoginStatusView> {
    const first = await lookUp(store.read, id, secret);
    if (waitSeconds === undefined) return view(first, secret);
    const check = async () => void (await lookUp(store.read, id, secret));
    const forMs = Math.min(waitSeconds * secondMs, first.expiresAt - clock.now());
    return singlePoll(id, { topics: [`logins/${id}`], forMs, signal, check }, async () => {
      const row = await lookUp(store.read, id, secret);
      return { value: await view(row, secret), settled: row.grant !== null };
    });
  }

  /** Ends a request for its asker, with the token of its approval. Throws `login_not_found`. */
  async function end(
    id: string,
    secret: string,
    { address, requestId }: ClientInfo,
  ): Promise<void> {
    // Strangers begin no transaction.
    await lookUp(store.read, id, secret);
    await store.write(async (tx) => {
      const row = await lookUp(tx, id, secret);
      await endLogin(deps, tx, row, { actor: system, address, requestId });
    });
  }

  return { create, status, end };
}
