import { z } from 'zod';
import { isBetween } from '../clock.ts';
import { isoInput, isoTime, recordId } from '../fields.ts';
import { pageQuery } from '../paging.ts';
import type { Ticket } from './rows.ts';
import { defaultTicketDays, maxTicketDays, maxTicketUses } from './ticket-limits.ts';

const usesCount = `must be a whole number from 1 to ${maxTicketUses}`;

export const ticketCreation = z
  .strictObject({
    screenId: recordId.optional().meta({ description: 'A link: binds one TV to this screen.' }),
    venueId: recordId.optional().meta({
      description: 'A shared ticket: its TVs wait for an installer of this venue.',
    }),
    uses: z.int(usesCount).min(1, usesCount).max(maxTicketUses, usesCount).optional().meta({
      description: 'With `venueId`: how many TVs may be bound with it.',
    }),
    expiresAt: isoInput.optional().meta({
      description: `In the future, within ${maxTicketDays} days. ISO 8601 with a zone, or a date. Default: in ${defaultTicketDays} days.`,
      example: '2099-12-31T23:00:00Z',
    }),
  })
  .superRefine(({ screenId, venueId, uses }, context) => {
    const complain = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((screenId === undefined) === (venueId === undefined))
      complain('screenId', 'must be given, or venueId for a shared ticket, not both');
    else if (venueId !== undefined && uses === undefined)
      complain('uses', 'must be given for a shared ticket');
    else if (screenId !== undefined && uses !== undefined)
      complain('uses', 'must be left out: a link binds one TV');
  })
  .meta({ id: 'TicketCreation' });
export type TicketCreation = z.infer<typeof ticketCreation>;

export const ticketQuery = z.strictObject({
  ...pageQuery,
  venueId: recordId.optional().meta({ description: 'Only tickets of this venue.' }),
});
export type TicketQuery = z.infer<typeof ticketQuery>;

const ticketStates = ['live', 'used', 'expired'] as const;

export const ticket = z
  .object({
    id: recordId,
    venueId: recordId,
    screenId: recordId.nullable().meta({
      description: 'The screen of a link. `null`: a shared ticket.',
    }),
    status: z.enum(ticketStates),
    uses: z.int().meta({ description: 'How many TVs may be bound with it: 1 for a link.' }),
    used: z.int().meta({ description: 'How many TVs were bound with it.' }),
    createdAt: isoTime,
    expiresAt: isoTime,
  })
  .meta({ id: 'Ticket' });
export type TicketView = z.infer<typeof ticket>;

export const createdTicket = z
  .object({
    ...ticket.shape,
    ticket: z.string().meta({
      description: 'The secret of the ticket. Returned only in this response.',
      example: 'tkt_…',
    }),
  })
  .meta({ id: 'CreatedTicket' });
export type CreatedTicketView = z.infer<typeof createdTicket>;

/** Returns the status of a ticket at a time. */
export function ticketStatusAt(
  { used, uses, createdAt, expiresAt }: Ticket,
  nowMs: number,
): TicketView['status'] {
  if (used >= uses) return 'used';
  return isBetween(nowMs, createdAt, expiresAt) ? 'live' : 'expired';
}

/** Returns the shard of claims with a ticket, which are counted together. */
export const shardOfTicket = (id: string): string => `ticket/${id}`;
