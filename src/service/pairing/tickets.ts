import { hashKey, isKey, makeKey } from '../../domain/api-key.ts';
import { dayMs, hourMs, iso } from '../../domain/clock.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import type { Claim } from '../../domain/records/rows.ts';
import type { Ticket } from '../../domain/tickets/rows.ts';
import {
  type CreatedTicketView,
  type TicketCreation,
  type TicketQuery,
  type TicketView,
  ticketStatusAt,
} from '../../domain/tickets/ticket.ts';
import {
  defaultTicketDays,
  maxSharedTickets,
  maxTicketDays,
} from '../../domain/tickets/ticket-limits.ts';
import type { Reader, Tx } from '../../store/store.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import {
  type IdempotentRequest,
  lookUpCreated,
  notRepeatable,
  prepareCreation,
} from '../creations.ts';
import { changeOf, lookUp, whereVenue } from '../lookup.ts';
import { putNotice } from '../notices/outbox.ts';
import { pageFilters, toPage } from '../paging.ts';
import { deleteTickets, endClaimsOfTicket } from '../places/pending.ts';
import { screenAlreadyBound } from './codes.ts';

/** Waiting TVs are told of at most once in this time. */
const noticeEveryMs = hourMs;

function ticketView(row: Ticket, nowMs: number): TicketView {
  const { id, venueId, screenId, uses, used } = row;
  const status = ticketStatusAt(row, nowMs);
  const times = { createdAt: iso(row.createdAt), expiresAt: iso(row.expiresAt) };
  return { id, venueId, screenId, status, uses, used, ...times };
}

/**
 * Returns the ticket with this secret while TVs may use it. Throws `ticket_not_found` for any other
 * text.
 */
export async function findTicket(reader: Reader, secret: string, nowMs: number): Promise<Ticket> {
  const row = isKey('tkt_', secret)
    ? await reader.find('tickets', 'hash', hashKey(secret))
    : undefined;
  if (!row || ticketStatusAt(row, nowMs) !== 'live')
    throw new SignageError(
      'ticket_not_found',
      'This ticket cannot be used: it is unknown, used up, revoked or expired. Create another one.',
    );
  return row;
}

/**
 * Counts the binding of a TV with a ticket. After the last one, no TV waits with it. Throws
 * `pairing_code_cancelled` if the ticket may not be used any more.
 */
export async function useTicket(tx: Tx, id: string, codeId: string): Promise<void> {
  const row = await tx.get('tickets', id);
  if (!row || ticketStatusAt(row, tx.now) !== 'live')
    throw new SignageError(
      'pairing_code_cancelled',
      'The ticket of this TV is used up, revoked or expired: create another one.',
    );
  const used = row.used + 1;
  await tx.put('tickets', { ...row, used });
  if (used === row.uses) await endClaimsOfTicket(tx, id, codeId);
}

/** Tells that a TV waits with a shared ticket, at most once an hour. */
export async function noticeWaiting(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  ticket: Ticket,
  claim: Claim,
): Promise<void> {
  const { id: ticketId, tenantId, venueId, noticedAt } = ticket;
  if (noticedAt !== null && Math.abs(tx.now - noticedAt) < noticeEveryMs) return;
  await tx.put('tickets', { ...ticket, noticedAt: tx.now });
  const venue = await tx.get('venues', venueId);
  const data = { venue: venue?.name ?? null, ticketId, claim: claim.id };
  await putNotice(deps, tx, { type: 'claim.waiting', tenantId, venueId, data });
}

/** Tickets: creates, lists and revokes them (docs/protocol.md §3.7). */
export function makeTickets(deps: ServiceDependencies) {
  const { store, clock } = deps;

  const change = (verb: AuditVerb<'ticket'>, row: Ticket) =>
    changeOf('ticket', verb, row, { screenId: row.screenId, uses: row.uses });

  /** Returns the place of a new ticket. A link replaces an earlier one of its screen. */
  async function placeOf(tx: Tx, principal: TenantPrincipal, wanted: TicketCreation) {
    if (wanted.screenId !== undefined) {
      const screen = await lookUp(tx, principal, 'screen', wanted.screenId);
      if (screen.state === 'active') throw screenAlreadyBound(screen);
      for (const row of await deleteTickets(tx, 'screenId', screen.id))
        if (ticketStatusAt(row, tx.now) === 'live')
          await recordChange(deps, tx, principal, change('revoke', row));
      return { venueId: screen.venueId, screenId: screen.id };
    }
    const venue = await lookUp(tx, principal, 'venue', wanted.venueId as string);
    const shared = (await tx.select('tickets', 'venueId', [venue.id])).filter(
      (row) => row.screenId === null && ticketStatusAt(row, tx.now) === 'live',
    );
    if (shared.length >= maxSharedTickets)
      throw new SignageError(
        'too_many_tickets',
        `The venue ${JSON.stringify(venue.name)} has ${maxSharedTickets} shared tickets: revoke one first.`,
      );
    return { venueId: venue.id, screenId: null };
  }

  /**
   * Throws `screen_not_found`, `venue_not_found`, `screen_already_bound`, `too_many_tickets`,
   * `not_repeatable`, and `invalid_request` for an expiry out of range.
   */
  async function create(
    principal: TenantPrincipal,
    wanted: TicketCreation,
    request?: IdempotentRequest,
  ): Promise<CreatedTicketView> {
    const begin = await prepareCreation(deps, principal, request);
    return deps.write(principal, async (tx) => {
      const creation = await begin(tx);
      const secret = makeKey('tkt_', creation.random);
      if (creation.earlierId !== undefined) {
        const earlier = await lookUpCreated(tx, principal, 'ticket', creation.earlierId);
        if (earlier.hash !== hashKey(secret) || ticketStatusAt(earlier, tx.now) !== 'live')
          throw notRepeatable('the ticket has ended. Use a new key to create another.');
        return { ...ticketView(earlier, tx.now), ticket: secret };
      }
      const { expiresAt = tx.now + defaultTicketDays * dayMs } = wanted;
      const leftMs = expiresAt - tx.now;
      if (leftMs <= 0 || leftMs > maxTicketDays * dayMs) {
        const message = `must be in the future, within ${maxTicketDays} days`;
        throw invalid([{ path: '/expiresAt', message }]);
      }
      const row: Ticket = {
        id: deps.newId(),
        tenantId: principal.tenantId,
        ...(await placeOf(tx, principal, wanted)),
        hash: hashKey(secret),
        uses: wanted.uses ?? 1,
        used: 0,
        createdAt: tx.now,
        expiresAt,
        noticedAt: null,
      };
      await tx.put('tickets', row);
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, change('create', row));
      return { ...ticketView(row, tx.now), ticket: secret };
    });
  }

  async function list(
    principal: TenantPrincipal,
    { venueId, ...page }: TicketQuery,
    signal?: AbortSignal,
  ): Promise<Page<TicketView>> {
    const where = { tenantId: principal.tenantId, ...whereVenue(principal, venueId) };
    const slice = await store.list('tickets', { where, ...pageFilters(page, signal) });
    return toPage(slice, (row) => ticketView(row, clock.now()));
  }

  async function get(principal: Principal, id: string): Promise<TicketView> {
    return ticketView(await lookUp(store.read, principal, 'ticket', id), clock.now());
  }

  /** Revokes a ticket. TVs that wait with it lose their claims. Throws `ticket_not_found`. */
  async function revoke(principal: Principal, id: string): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'ticket', id);
      await endClaimsOfTicket(tx, row.id);
      await tx.delete('tickets', row.id);
      await recordChange(deps, tx, principal, change('revoke', row));
    });
  }

  return { create, list, get, revoke };
}
