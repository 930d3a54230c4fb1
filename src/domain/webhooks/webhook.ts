import { z } from 'zod';
import { isoInput, isoTime, lineOfText, recordId, recordName } from '../fields.ts';
import { noticeTypes } from '../notices/notice-types.ts';
import { pageQuery } from '../paging.ts';

const groups = [...new Set(noticeTypes.map((type) => `${type.split('.')[0]}.*`))];
/** What `types` may contain. */
export const typePatterns: readonly string[] = [...noticeTypes, ...groups];

/** Returns whether a type is one of these types, or in one of these groups, such as `screen.*`. */
export function matchesType(type: string, patterns: readonly string[] | null): boolean {
  return (
    patterns === null ||
    patterns.some((pattern) =>
      pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern,
    )
  );
}

const types = z
  .array(z.enum(typePatterns, { error: `must be one of ${typePatterns.join(', ')}` }))
  .min(1, 'must name at least one type; leave it out for all')
  .max(50, 'must name at most 50 types')
  .nullable()
  .meta({ description: 'Types, and groups such as `screen.*`. null: all.' });
const venueIds = z
  .array(recordId)
  .min(1, 'must name 1 to 100 venues; leave it out for all')
  .max(100, 'must name 1 to 100 venues; leave it out for all')
  .nullable()
  .meta({ description: 'Only notices of these venues. null: all that the token may see.' });
/**
 * `stateReason` of a webhook that a restore has paused. The service that took the backup may still
 * run, and then two services would notify the receiver.
 */
export const restoredReason = 'restored';

export const isPausedByRestore = ({
  state,
  stateReason,
}: {
  state: string;
  stateReason: string | null;
}): boolean => state === 'paused' && stateReason === restoredReason;

/** The path of the URL of a chat is a secret, so audit entries and logs never contain it. */
const url = lineOfText(2048)
  .refine((text) => URL.canParse(text), 'must be a URL, such as https://example.com/hook')
  .meta({ example: 'https://example.com/hook' });

export const webhookCreation = z
  .strictObject({
    url,
    name: recordName.nullish(),
    types: types.optional(),
    venueIds: venueIds.optional(),
  })
  .meta({ id: 'WebhookCreation' });

export const webhookPatch = z
  .strictObject({
    url: url.optional(),
    name: recordName.nullish(),
    types: types.optional(),
    venueIds: venueIds.optional(),
    state: z
      .enum(['active', 'paused'], { error: 'must be active or paused' })
      .optional()
      .meta({ description: '`active` also makes the calling token the one that it acts for.' }),
  })
  .meta({ id: 'WebhookPatch' });

export const webhook = z
  .object({
    id: recordId,
    name: z.string().nullable(),
    url: z.string(),
    types: z.array(z.string()).nullable(),
    venueIds: z.array(recordId).nullable(),
    state: z.enum(['active', 'paused', 'disabled']),
    stateReason: z
      .string()
      .nullable()
      .meta({ description: 'Why the service has paused or disabled it.' }),
    tokenId: recordId.meta({ description: 'The token whose rights the webhook has.' }),
    createdAt: isoTime,
    updatedAt: isoTime,
  })
  .meta({ id: 'Webhook' });

const secret = z
  .string()
  .meta({ description: 'Verifies signatures. Returned only here.', example: 'whsec_MfKQ9r8=' });

export const createdWebhook = z.object({ ...webhook.shape, secret }).meta({ id: 'CreatedWebhook' });

export const webhookSecret = z
  .object({
    secret,
    oldSecretUntil: isoTime.meta({ description: 'Until then, both secrets sign.' }),
  })
  .meta({ id: 'WebhookSecret' });

const outcome = {
  status: z.int().nullable().meta({ description: 'null: there was no answer.' }),
  ms: z.number(),
  error: z.string().nullable(),
};

export const webhookTest = z
  .object({
    delivered: z.boolean(),
    ...outcome,
    text: z.string().meta({ description: 'The first 200 printable characters of the answer.' }),
  })
  .meta({ id: 'WebhookTest' });

const deliveryState = z.enum(['pending', 'delivered', 'dead'], {
  error: 'must be pending, delivered or dead',
});

export const webhookDeliveriesQuery = z.strictObject({
  ...pageQuery,
  state: deliveryState.optional().meta({ description: 'Only deliveries in this state.' }),
});

export const webhookDelivery = z
  .object({
    noticeId: recordId,
    type: z.string(),
    state: deliveryState,
    attempts: z
      .array(z.object({ at: isoTime, ...outcome }))
      .meta({ description: 'Empty for a delivery that has never failed.' }),
    nextAt: isoTime.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const oneOf = 'must have either noticeIds, or from and to';

export const redelivery = z
  .strictObject({
    noticeIds: z
      .array(recordId)
      .min(1, 'must name 1 to 100 notices')
      .max(100, 'must name 1 to 100 notices')
      .optional(),
    from: isoInput.optional(),
    to: isoInput.optional(),
  })
  .superRefine(({ noticeIds, from, to }, context) => {
    const isRange = from !== undefined && to !== undefined;
    const hasRange = from !== undefined || to !== undefined;
    if (noticeIds ? hasRange : !isRange) context.addIssue({ code: 'custom', message: oneOf });
  })
  .meta({ id: 'RedeliveryCreation' });

export const redelivered = z
  .object({ queued: z.int().meta({ description: 'Number of notices that will be sent again.' }) })
  .meta({ id: 'Redelivered' });

export const webhookQuery = z.strictObject(pageQuery);

export type WebhookCreation = z.infer<typeof webhookCreation>;
export type WebhookPatch = z.infer<typeof webhookPatch>;
export type WebhookQuery = z.infer<typeof webhookQuery>;
export type WebhookView = z.infer<typeof webhook>;
export type CreatedWebhookView = z.infer<typeof createdWebhook>;
export type WebhookSecretView = z.infer<typeof webhookSecret>;
export type WebhookTestView = z.infer<typeof webhookTest>;
export type WebhookDeliveriesQuery = z.infer<typeof webhookDeliveriesQuery>;
export type WebhookDeliveryView = z.infer<typeof webhookDelivery>;
export type Redelivery = z.infer<typeof redelivery>;
