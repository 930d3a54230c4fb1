import { z } from 'zod';

/** The rows of webhooks. See `records/rows.ts` for their form. */
const text = z.string();
const time = z.number();

/** A receiver of notices (docs/protocol.md §5.17). Its secrets are derived, and never stored. */
export const webhookRow = z.strictObject({
  id: text,
  tenantId: text,
  name: text.nullable(),
  url: text,
  /** Types, and groups of types such as `screen.*`. `null`: all. */
  types: z.array(text).readonly().nullable(),
  /** The venues whose notices it gets. `null`: the whole tenant. */
  venueIds: z.array(text).readonly().nullable(),
  /** The token that created the webhook or last activated it. It must still be valid. */
  tokenId: text,
  /** Number of the current secret. */
  generation: z.int(),
  /** The replaced secret, which also signs until `until`. */
  retiring: z.strictObject({ generation: z.int(), until: time }).nullable(),
  state: z.enum(['active', 'paused', 'disabled']),
  stateReason: text.nullable(),
  /** Number of requests to send notices again. Its change wakes the deliverer. */
  redeliveries: z.int(),
  createdAt: time,
  updatedAt: time,
});
export type Webhook = z.infer<typeof webhookRow>;

/** Progress of a webhook in the log of notices. `id` is the id of the webhook. */
export const webhookCursorRow = z.strictObject({
  id: text,
  /** Id of the last notice that was delivered or is dead. Later ones are waiting. */
  after: text,
  /** Time of the first failure since the last success. */
  failingSince: time.nullable(),
});
export type WebhookCursor = z.infer<typeof webhookCursorRow>;

const attempt = z.strictObject({
  at: time,
  status: z.int().nullable(),
  ms: time,
  error: text.nullable(),
});

/**
 * A delivery that has failed at least once, or was asked for again. `id` is
 * `<webhook id>/<notice id>`.
 */
export const webhookDeliveryRow = z.strictObject({
  id: text,
  webhookId: text,
  noticeId: text,
  /** Id of the webhook while the delivery is pending. Indexed, to find the oldest one. */
  pendingOf: text.nullable(),
  state: z.enum(['pending', 'delivered', 'dead']),
  attempts: z.array(attempt).readonly(),
  nextAt: time.nullable(),
});
export type WebhookDelivery = z.infer<typeof webhookDeliveryRow>;
