import { z } from 'zod';

const text = z.string();
const time = z.number();

/** A ticket, with which TVs enrol themselves (docs/protocol.md §3.7). */
export const ticketRow = z.strictObject({
  id: text,
  tenantId: text,
  venueId: text,
  /** The screen of a link. `null`: a shared ticket. */
  screenId: text.nullable(),
  /** SHA-256 of the secret, in hex. */
  hash: text,
  /** How many TVs may be bound with it, and how many were. */
  uses: z.number(),
  used: z.number(),
  createdAt: time,
  expiresAt: time,
  /** Time of the latest notice that TVs wait with it. */
  noticedAt: time.nullable(),
});
export type Ticket = z.infer<typeof ticketRow>;
