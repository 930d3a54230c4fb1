import { iso } from '../../domain/clock.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import type { Page } from '../../domain/paging.ts';
import {
  type ClaimQuery,
  type ClaimView,
  claimText,
  isLiveClaim,
  offeredCode,
} from '../../domain/records/claim.ts';
import type { CreatedCode } from '../../domain/records/pairing-code.ts';
import type { Claim, Screen } from '../../domain/records/rows.ts';
import type { Reader, Tx } from '../../store/store.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import { type BeginCreation, type IdempotentRequest, prepareCreation } from '../creations.ts';
import { makeUnknownLimit } from '../guesses/unknown-limit.ts';
import { isInScope, lookUp as lookUpRecord, venuesOf, whereVenue } from '../lookup.ts';
import { badCursor } from '../paging.ts';
import { claimNotFound, secondsLeft } from './claims.ts';
import { type Codes, untilUnused } from './codes.ts';
import { putOffer } from './offers.ts';

/** Operations of installers on claims: look-up, and offer of a screen. */
export function makeClaimOffers(deps: ServiceDependencies, codes: Codes) {
  const { store } = deps;
  const judge = makeUnknownLimit(store, {
    topic: 'claims',
    what: 'unknown claims',
    advice: 'check the text that the TV shows',
  });

  /**
   * After the offer of another tenant, the claim does not exist for this caller. With a ticket, it
   * exists only for callers of the ticket's venue.
   */
  async function find(
    reader: Reader,
    principal: Principal,
    id: string,
    nowMs: number,
  ): Promise<Claim | undefined> {
    if (!claimText.safeParse(id).success) return undefined;
    const row = await reader.get('claims', id);
    if (!row || !isLiveClaim(row, nowMs)) return undefined;
    const tenantId = row.tenantId ?? row.offer?.tenantId ?? principal.tenantId;
    if (tenantId !== principal.tenantId) return undefined;
    return row.venueId === undefined || isInScope(principal, [row.venueId]) ? row : undefined;
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
    return view(row, await expectedScreens([row]));
  }

  /**
   * Lists the TVs that wait with tickets, of the caller's venues. A page has fewer items
   * than its limit if some claims have an offer or have expired.
   */
  async function list(
    principal: TenantPrincipal,
    { venueId, cursor, limit }: ClaimQuery,
    signal?: AbortSignal,
  ): Promise<Page<ClaimView>> {
    if (cursor !== undefined && !claimText.safeParse(cursor).success) throw badCursor();
    const slice = await store.list('claims', {
      where: { tenantId: principal.tenantId, ...whereVenue(principal, venueId) },
      limit,
      signal,
      ...(cursor !== undefined && { after: cursor }),
    });
    const nowMs = deps.clock.now();
    const rows = slice.items.filter((row) => row.state === 'waiting' && isLiveClaim(row, nowMs));
    const expected = await expectedScreens(rows);
    return { items: rows.map((row) => view(row, expected)), nextCursor: slice.next };
  }

  function view(row: Claim, expected: (claim: Claim) => string | null): ClaimView {
    const { id, state, deviceInfo, address, createdAt, ticketId = null, venueId = null } = row;
    return {
      claim: id,
      status: state,
      deviceInfo,
      address,
      createdAt: iso(createdAt),
      expiresInSeconds: secondsLeft(row, deps.clock.now()),
      ticketId,
      venueId,
      expectedScreenId: expected(row),
    };
  }

  /** Returns a function that finds the one free screen that expects the serial number of a TV. */
  async function expectedScreens(claims: readonly Claim[]) {
    const named = claims.filter(({ venueId, deviceInfo }) => venueId && deviceInfo.serial);
    const venueIds = [...new Set(named.map(({ venueId }) => venueId as string))];
    const screens = venueIds.length ? await store.read.select('screens', 'venueId', venueIds) : [];
    const free = screens.filter(({ state, serial }) => state === 'provisioning' && serial);
    return ({ venueId, deviceInfo: { serial } }: Claim): string | null => {
      const matching = free.filter((one) => one.venueId === venueId && one.serial === serial);
      return matching.length === 1 ? (matching[0] as Screen).id : null;
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
    const screen = await lookUpRecord(tx, principal, 'screen', screenId);
    if (claim.venueId !== undefined && claim.venueId !== screen.venueId)
      throw invalid([
        { path: '/screenId', message: 'must be a screen of the venue of the ticket of this TV' },
      ]);
    const { row, code } = await putOffer(deps, codes, tx, claim, screen);
    await creation.remember(row.id);
    await recordChange(deps, tx, principal, {
      action: 'claim.offer',
      subject: { kind: 'screen', id: row.screenId },
      tenantId: row.tenantId,
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

  return { lookUp, get, list, offer };
}
