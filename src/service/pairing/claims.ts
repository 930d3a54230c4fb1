import { deriveClaimToken, derivedRandom, hashKey, isKey, makeKey } from '../../domain/api-key.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import {
  type ClaimCreation,
  type ClaimStatusView,
  type CreatedClaim,
  claimText,
  isLiveClaim,
  makeClaim,
  offeredCode,
} from '../../domain/records/claim.ts';
import { codeStatusAt } from '../../domain/records/pairing-code.ts';
import type { Claim } from '../../domain/records/rows.ts';
import type { Ticket } from '../../domain/tickets/rows.ts';
import { shardOfTicket } from '../../domain/tickets/ticket.ts';
import type { Reader, Tx } from '../../store/store.ts';
import type { ClientInfo, SystemDependencies } from '../context.ts';
import { sourceOf } from '../guesses/guess-source.ts';
import type { TrustedSources } from '../guesses/trusted-sources.ts';
import { makeSinglePoll } from '../long-poll.ts';
import { endClaim } from '../places/pending.ts';
import { readVenueIdentify } from '../signals.ts';
import {
  applicantAt,
  type ClaimApplicant,
  claimLimits,
  makeRoom,
  makeRoomWithTicket,
} from './claim-limits.ts';
import { type Codes, untilUnused } from './codes.ts';
import { putOffer } from './offers.ts';
import { findTicket, noticeWaiting } from './tickets.ts';

/** Time for which a claim waits for an installer (docs/protocol.md §3.6). */
const claimTtlMs = 10 * minuteMs;

export interface ClaimRequest extends Pick<ClientInfo, 'address'> {
  body: ClaimCreation;
  idempotencyKey: string | undefined;
}

export const claimNotFound = () =>
  new SignageError(
    'claim_not_found',
    'There is no such claim: check it. It may have expired; the TV shows a new one when it asks again.',
  );

export const secondsLeft = ({ expiresAt }: Pick<Claim, 'expiresAt'>, nowMs: number) =>
  Math.max(0, Math.ceil((expiresAt - nowMs) / secondMs));

/**
 * Operations of TVs on claims: creation, and the wait for a pairing code (docs/protocol.md §3.6).
 */
export function makeClaims(deps: SystemDependencies, trustedSources: TrustedSources, codes: Codes) {
  const { store, random, clock } = deps;
  const singlePoll = makeSinglePoll(deps);

  /** Returns a claim and its secret. The same key, ticket and attempt give the same pair. */
  function makeSecrets(
    key: string | undefined,
    attempt: number,
    ticket: Ticket | undefined,
  ): { id: string; token: string } {
    if (key === undefined) return { id: makeClaim(random), token: makeKey('clm_', random) };
    const purpose = `claim\n${attempt}${ticket ? `\n${ticket.id}` : ''}`;
    const id = makeClaim(derivedRandom(store.secret, key, purpose));
    return { id, token: deriveClaimToken(store.secret, id, key) };
  }

  /**
   * Adds the claim, or finds it if the same request added it before. A link is offered its screen
   * at once. Throws `conflict` if another TV has this claim, and `screen_already_bound`.
   */
  async function addClaim(
    tx: Tx,
    claim: Pick<Claim, 'id' | 'tokenHash'>,
    { body, address }: ClaimRequest,
    applicant: ClaimApplicant,
    ticket: Ticket | undefined,
  ): Promise<Claim> {
    const existing = await tx.get('claims', claim.id);
    if (existing && isLiveClaim(existing, tx.now)) {
      if (existing.tokenHash === claim.tokenHash) return existing;
      throw new SignageError('conflict', 'This claim exists already.');
    }
    const { network } = applicant;
    const shard = ticket ? shardOfTicket(ticket.id) : applicant.shard;
    const rows = await tx.select('claims', 'shard', [shard]);
    const live = rows.filter((row) => isLiveClaim(row, tx.now));
    const { displaced, share } = ticket
      ? { displaced: makeRoomWithTicket(live, ticket, network, tx.now), share: null }
      : makeRoom(
          live.filter(({ state }) => state === 'waiting'),
          applicant,
          claimLimits,
          tx.now,
        );
    for (const old of displaced) {
      await endClaim(tx, old);
      // Else, whoever has a link could fill the store with codes.
      if (old.offer) await tx.delete('codes', old.offer.codeId);
    }
    const row: Claim = {
      ...claim,
      shard,
      network,
      share,
      deviceInfo: body.deviceInfo,
      address,
      state: 'waiting',
      createdAt: tx.now,
      expiresAt: Math.min(tx.now + claimTtlMs, ticket?.expiresAt ?? Number.POSITIVE_INFINITY),
      offer: null,
      ...(ticket && { ticketId: ticket.id, tenantId: ticket.tenantId, venueId: ticket.venueId }),
    };
    const screen = ticket?.screenId ? await tx.get('screens', ticket.screenId) : undefined;
    if (screen) await putOffer(deps, codes, tx, row, screen);
    else await tx.put('claims', row);
    if (ticket && !screen) await noticeWaiting(deps, tx, ticket, row);
    return row;
  }

  /**
   * Makes a claim for a TV. While the claim lives, the same `Idempotency-Key` gets the same claim
   * and token, with the seconds that are left. Throws `too_many_attempts`, and for a ticket
   * `ticket_not_found` or `screen_already_bound`.
   */
  async function create(request: ClaimRequest): Promise<CreatedClaim> {
    const { address, idempotencyKey, body } = request;
    const secret = body.ticket;
    const named =
      secret === undefined ? undefined : await findTicket(store.read, secret, clock.now());
    const trusting = named ? [] : await trustedSources.trusting(sourceOf(address));
    const applicant = applicantAt(address, trusting, store.secret);
    return untilUnused((attempt) => {
      const { id, token } = makeSecrets(idempotencyKey, attempt, named);
      return store.write(async (tx) => {
        const ticket = secret === undefined ? undefined : await findTicket(tx, secret, tx.now);
        const claim = { id, tokenHash: hashKey(token) };
        const row = await addClaim(tx, claim, request, applicant, ticket);
        return { claim: id, token, expiresInSeconds: secondsLeft(row, tx.now) };
      });
    });
  }

  /**
   * Returns the claim if it exists and `token` is its secret. Otherwise throws `claim_not_found`.
   */
  async function lookUp(reader: Reader, id: string, token: string | undefined): Promise<Claim> {
    const row =
      token !== undefined && isKey('clm_', token) && claimText.safeParse(id).success
        ? await reader.get('claims', id)
        : undefined;
    if (row?.tokenHash !== hashKey(token ?? '') || !isLiveClaim(row, clock.now()))
      throw claimNotFound();
    return row;
  }

  const identifyOf = async ({ venueId }: Claim) =>
    venueId === undefined ? undefined : readVenueIdentify(store.read, venueId, clock.now());

  async function view(row: Claim): Promise<ClaimStatusView> {
    const nowMs = clock.now();
    const { offer } = row;
    if (!offer) {
      const expiresInSeconds = secondsLeft(row, nowMs);
      const identify = await identifyOf(row);
      const waiting = {
        status: 'waiting',
        pairingCode: null,
        expiresInSeconds,
        offer: null,
      } as const;
      if (!identify) return waiting;
      return { ...waiting, identifySeconds: Math.ceil((identify.until - nowMs) / secondMs) };
    }
    const [code, screen, tenant, trusting, tenants] = await Promise.all([
      store.read.get('codes', offer.codeId),
      store.read.get('screens', offer.screenId),
      store.read.get('tenants', offer.tenantId),
      trustedSources.trusting(sourceOf(row.address)),
      store.list('tenants', { limit: 2 }),
    ]);
    const venue = screen && (await store.read.get('venues', screen.venueId));
    if (!code || codeStatusAt(code, nowMs) !== 'pending' || !screen || !tenant || !venue)
      throw claimNotFound();
    return {
      status: 'offered',
      pairingCode: offeredCode(store.secret, row.id, offer.id),
      expiresInSeconds: secondsLeft(code, nowMs),
      offer: {
        tenant: tenant.name,
        tenantId: tenant.id,
        venue: venue.name,
        screen: screen.name,
        // Only installers of the ticket's venue see a TV with a ticket. Without one, a person must
        // confirm, unless the service has one tenant, which trusts the source. With several, a
        // guest on the Wi-Fi of a shop could make any tenant trusted at its TVs.
        confirm:
          row.ticketId === undefined && (tenants.items.length > 1 || !trusting.includes(tenant.id)),
      },
    };
  }

  /**
   * Returns the status of a TV's claim. With `waitSeconds`, long-polls until a screen is offered,
   * or until the TV is asked to identify itself. A
   * further long poll of the same claim ends the previous one. Throws `claim_not_found`, also when
   * the offered code is no longer pending.
   */
  async function status(
    id: string,
    token: string | undefined,
    waitSeconds: number | undefined,
    signal: AbortSignal,
  ): Promise<ClaimStatusView> {
    const first = await lookUp(store.read, id, token);
    if (waitSeconds === undefined) return view(first);
    const check = async () => void (await lookUp(store.read, id, token));
    const forMs = Math.min(waitSeconds * secondMs, first.expiresAt - clock.now());
    const topics = [`claims/${id}`, ...(first.venueId ? [`signals/venue/${first.venueId}`] : [])];
    const identifiedBy = (await identifyOf(first))?.id;
    return singlePoll(id, { topics, forMs, signal, check }, async () => {
      const row = await lookUp(store.read, id, token);
      const isAsked = (await identifyOf(row))?.id !== identifiedBy;
      return { value: await view(row), settled: row.state === 'offered' || isAsked };
    });
  }

  return { create, status };
}
