/** Limits of tickets (docs/protocol.md §3.7). */
export const maxTicketUses = 500;
export const maxSharedTickets = 20;
export const maxTicketDays = 90;
export const defaultTicketDays = 14;
