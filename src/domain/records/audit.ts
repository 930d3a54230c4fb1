import { z } from 'zod';
import { isoTime, recordId } from '../fields.ts';
import { pageQuery, timeRangeQuery } from '../paging.ts';

/** The actions in the trail: subject and verb (docs/protocol.md §5.7). */
export const auditActions = [
  'tenant.create',
  'tenant.update',
  'tenant.delete',
  'mirror.repair',
  'token.create',
  'token.approve',
  'token.delete',
  'token.rotate',
  'token.activate',
  'access.denied',
  'venue.create',
  'venue.update',
  'venue.delete',
  'screen.create',
  'screen.update',
  'screen.delete',
  'code.create',
  'code.cancel',
  'claim.offer',
  'ticket.create',
  'ticket.revoke',
  'playlist.publish',
  'playlist.withdraw',
  'playlist.refresh',
  'schedule.set',
  'schedule.clear',
  'takeover.set',
  'takeover.clear',
  'media.create',
  'media.delete',
  'campaign.set',
  'campaign.delete',
  'config.set',
  'config.unset',
  'identify.set',
  'reload.set',
  'device.register',
  'device.revoke',
  'key.rotate',
  'key.activate',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'webhook.rotate',
  'webhook.redeliver',
  'webhook.pause',
  'webhook.disable',
  'statement.start',
  'statement.seal',
  'statement.resume',
  'backup.create',
  'retention.purge',
  'registration.locked_out',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** The verbs of a subject, such as `'create' | 'update' | 'delete'` for `'venue'`. */
export type AuditVerb<
  Subject extends string,
  Action = AuditAction,
> = Action extends `${Subject}.${infer Verb}` ? Verb : never;

/** Further details of a change. They never contain a secret. */
export type AuditDetails = Record<string, string | number | boolean | null>;

export const auditEntry = z
  .object({
    id: recordId,
    at: isoTime,
    actor: z.object({
      kind: z.enum(['token', 'device', 'system']),
      id: z.string().nullable(),
      name: z.string().nullable(),
    }),
    action: z.string().meta({ example: 'screen.create' }),
    subject: z.object({ kind: z.string(), id: z.string().nullable() }),
    address: z.string().nullable(),
    requestId: z.string().nullable(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  })
  .meta({ id: 'AuditEntry' });
export type AuditView = z.infer<typeof auditEntry>;

export const auditQuery = z.strictObject({
  ...pageQuery,
  action: z
    .string()
    .optional()
    .meta({ description: 'Only changes of this kind.', example: 'screen.create' }),
  subjectId: recordId.optional().meta({ description: 'Only changes of this record.' }),
  ...timeRangeQuery,
});
export type AuditQuery = z.infer<typeof auditQuery>;

/** The author of a change: a management token, a TV, or the service itself. */
export interface Actor {
  kind: 'token' | 'device' | 'system';
  id: string | null;
  name: string | null;
}

export interface AuditEntry {
  id: string;
  tenantId: string | null;
  at: number;
  actor: Actor;
  /** Subject and verb, such as `screen.create`. */
  action: string;
  subject: { kind: string; id: string | null };
  address: string | null;
  requestId: string | null;
  details: AuditDetails;
  /** The venues that the change concerns. Absent if it concerns the whole tenant. */
  venueIds?: readonly string[];
}
