import { iso, minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { largest } from '../../domain/numbers/extremes.ts';
import { type ClaimView, claimText, isLiveClaim, offeredCode } from '../../domain/records/claim.ts';
import type { CreatedCode, GuessCounter } from '../../domain/records/pairing-code.ts';
import type { Claim } from '../../domain/records/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { type BeginCreation, type IdempotentRequest, prepareCreation } from '../creations.ts';
import { venuesOf } from '../lookup.ts';
import { claimNotFound, secondsLeft } from './claims.ts';
import { type Codes, untilUnused } from './codes.ts';

/**
 * Limits of unknown claims within the window: of one token, and of all tokens of one tenant
 * (docs/protocol.md §3.6). If a tenant had the limit of one token, an installer who mistypes would
 * stop all others. Without a limit, a tenant could make tokens to guess with.
 */
const maxOfToken = 10;
const maxOfTenant = 30;
const windowMs = 10 * minuteMs;

/** Operations of installers on claims: look-up, and offer of a screen. */
export function makeClaimOffers(deps: ServiceDependencies, codes: Codes) {
  const { store, newId } = deps;

  /**
   * Counts a look-up of an unknown claim. Beyond the limits, throws `too_many_attempts`, even for a
   * known claim.
   */
  async function judge({ actor, tenantId }: Principal, isUnknown: boolean): Promise<void> {
    const sources = [`claims/token/${actor.id}`, `claims/tenant/${tenantId}`];
    const limits = [maxOfToken, maxOfTenant];
    const waitMs = await store.updateGuessCounters(sources, (counters, nowMs) => {
      const current = counters.map((counter) => within(counter, nowMs));
      const waits = current.map((times, index) =>
        times.length < (limits[index] as number)
          ? 0
          : Math.min((times[0] as number) + windowMs - nowMs, windowMs),
      );
      const result = largest(waits);
      if (!isUnknown || result > 0) return { attempts: counters, result };
      const counted = current.map((times) => counterOf([...times, nowMs], nowMs));
      return { attempts: counted, result };
    });
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / secondMs));
    const detail = `Too many unknown claims: wait ${retryAfterSeconds} seconds, then check the text that the TV shows.`;
    throw new SignageError('too_many_attempts', detail, { retryAfterSeconds });
  }

  /** After the offer of another tenant, the claim does not exist for this caller. */
  async function find(
    reader: Reader,
    { tenantId }: Principal,
    id: string,
    nowMs: number,
  ): Promise<Claim | undefined> {
    if (!claimText.safeParse(id).success) return undefined;
    const row = await reader.get('claims', id);
    if (!row || !isLiveClaim(row, nowMs)) return undefined;
    return row.offer && row.offer.tenantId !== tenantId ? undefined : row;
  }

  /**
   * Returns a claim for an installer. Throws `claim_not_found`, or `too_many_attempts` after many
   * look-ups of unknown claims.
   */
  async function lookUp(principal: Principal, id: string): Promise<Claim> {
    const row = await find(store.read, principal, id, deps.clock.now());
    await judge(principal, row === undefined);
    if (!row) throw claimNotFound();
    return row;
  }

  /** Throws `claim_not_found`. */
  async function get(principal: Principal, id: string): Promise<ClaimView> {
    const row = await find(store.read, principal, id, deps.clock.now());
    if (!row) throw claimNotFound();
    const { state, deviceInfo, address, createdAt } = row;
    return {
      claim: row.id,
      status: state,
      deviceInfo,
      address,
      createdAt: iso(createdAt),
      expiresInSeconds: secondsLeft(row, deps.clock.now()),
    };
  }

  async function offerIn(
    tx: Tx,
    principal: TenantPrincipal,
    id: string,
    screenId: string,
    begin: BeginCreation,
  ): Promise<CreatedCode> {
    const claim = await find(tx, principal, id, tx.now);
    if (!claim) throw claimNotFound();
    const creation = await begin(tx);
    if (claim.offer && creation.earlierId === claim.offer.codeId)
      return codes.repeatCreation(tx, principal, offeredCode(store.secret, id, claim.offer.id));
    if (claim.state === 'offered')
      throw new SignageError(
        'claim_offered',
        'This TV was already offered a screen. Wait until it has registered, or let it show a new claim.',
      );
    const offerId = newId();
    const code = offeredCode(store.secret, id, offerId);
    const row = await codes.add(tx, principal, { screenId }, code);
    const { tenantId } = row;
    await tx.put('claims', {
      ...claim,
      state: 'offered',
      // The TV can ask again as long as the code is valid.
      expiresAt: Math.max(claim.expiresAt, row.expiresAt),
      offer: { id: offerId, codeId: row.id, screenId: row.screenId, tenantId },
    });
    await creation.remember(row.id);
    await recordChange(deps, tx, principal, {
      action: 'claim.offer',
      subject: { kind: 'screen', id: row.screenId },
      tenantId,
      venueIds: venuesOf('pairing_code', row),
      details: { claim: id, address: claim.address },
    });
    return codes.createdView(row, code, tx.now);
  }

  /**
   * Creates a pairing code for a screen, and gives it to the TV with this claim. Throws
   * `claim_not_found`, `claim_offered`, `screen_not_found`, `screen_already_bound`,
   * `not_repeatable`.
   */
  async function offer(
    principal: TenantPrincipal,
    id: string,
    { screenId }: { screenId: string },
    request?: IdempotentRequest,
  ): Promise<CreatedCode> {
    // The `Idempotency-Key` applies to this claim only. With another claim, it is a new request.
    const ofClaim = request && { ...request, operation: `${request.operation} ${id}` };
    const begin = await prepareCreation(deps, principal, ofClaim);
    return untilUnused(() =>
      deps.write(principal, (tx) => offerIn(tx, principal, id, screenId, begin)),
    );
  }

  return { lookUp, get, offer };
}

const within = (counter: GuessCounter | undefined, nowMs: number) =>
  (counter?.times ?? []).filter((time) => Math.abs(nowMs - time) < windowMs);

const counterOf = (times: readonly number[], nowMs: number): GuessCounter => ({
  times,
  waitUntil: 0,
  waitMs: 0,
  forgetAt: nowMs + windowMs,
});
