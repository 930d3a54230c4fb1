// What waits for a TV: pending codes, tickets, and the claims of TVs with tickets.
import { codeStatusAt } from '../../domain/records/pairing-code.ts';
import type { Claim } from '../../domain/records/rows.ts';
import type { Ticket } from '../../domain/tickets/rows.ts';
import { shardOfTicket } from '../../domain/tickets/ticket.ts';
import type { Tx } from '../../store/store.ts';

/** Cancels the pending codes of a screen, except the code `exceptId`. */
export async function cancelPendingCodes(
  tx: Tx,
  screenId: string,
  exceptId?: string,
): Promise<void> {
  for (const code of await tx.select('codes', 'screenId', [screenId])) {
    if (code.id === exceptId || codeStatusAt(code, tx.now) !== 'pending') continue;
    await tx.put('codes', { ...code, state: 'cancelled', cancelledAt: tx.now });
  }
}

/** Deletes a claim, and cancels the code that it was offered. */
export async function endClaim(tx: Tx, { id, offer }: Claim): Promise<void> {
  await tx.delete('claims', id);
  const code = offer ? await tx.get('codes', offer.codeId) : undefined;
  if (code && codeStatusAt(code, tx.now) === 'pending')
    await tx.put('codes', { ...code, state: 'cancelled', cancelledAt: tx.now });
}

/** Ends the claims of a ticket, so that no TV waits or registers with it, except with a code. */
export async function endClaimsOfTicket(
  tx: Tx,
  ticketId: string,
  exceptCodeId?: string,
): Promise<void> {
  for (const claim of await tx.select('claims', 'shard', [shardOfTicket(ticketId)]))
    if (exceptCodeId === undefined || claim.offer?.codeId !== exceptCodeId)
      await endClaim(tx, claim);
}

/**
 * Deletes the tickets of a screen or venue, as it is deleted, or as a link replaces another.
 * Returns them.
 */
export async function deleteTickets(
  tx: Tx,
  member: 'screenId' | 'venueId',
  id: string,
): Promise<Ticket[]> {
  const tickets = await tx.select('tickets', member, [id]);
  for (const ticket of tickets) {
    await endClaimsOfTicket(tx, ticket.id);
    await tx.delete('tickets', ticket.id);
  }
  return tickets;
}
