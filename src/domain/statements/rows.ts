import { z } from 'zod';

/** The rows of statements. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();

/** The statements of a campaign. */
export const statementLogRow = z.strictObject({
  id: text,
  tenantId: text,
  campaignId: text,
  settleHours: z.number(),
  /** The first day, and the day after the last one. */
  from: text,
  to: text.nullable(),
  /** Verifier keys; the last one is that of the key that signs. */
  keys: z.array(text),
  /** What the name of that key has after the tenant. Empty: the first log. */
  name: text,
  nextDay: text,
  /** Number and hash of the newest head. */
  number: z.number(),
  previous: text,
  /** Id of the newest event that was read for it. */
  until: text,
  /** A restore has lost plays before this time. */
  lostUntil: time,
  isPaused: z.boolean(),
  /** The heads whose rows are stored, and when they were sealed. */
  kept: z.array(z.tuple([text, time])),
});
export type StatementLog = z.infer<typeof statementLogRow>;

/**
 * A head has the id `<log>/<name>.<number>`, and its note as text. Its rows are in parts,
 * `<id of the head, with a dot>/<part>`: lines in compressed form as base64.
 */
export const statementRow = z.strictObject({ id: text, owner: text, text });
