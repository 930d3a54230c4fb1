/** A ticket in the fragment of a link, or anywhere else in a text (docs/protocol.md §3.7). */
const ticketForm = /tkt_[0-9A-Za-z]{49}/;

/**
 * Returns the address of the web player with a ticket. The ticket is in the fragment, which
 * browsers never send to a server.
 */
export function playerTicketLink(serviceUrl: string, ticket: string): string {
  return `${serviceUrl.replace(/\/$/, '')}/player#enrol=${ticket}`;
}

/** Returns the ticket in a link or a line of text. `undefined`: there is none. */
export const ticketIn = (text: string): string | undefined => ticketForm.exec(text)?.[0];
