import { z } from 'zod';
import { isoInput, isoTime, recordId, recordName } from '../fields.ts';
import { nameQuery, pageQuery } from '../paging.ts';
import { roles } from './role.ts';

const role = z.enum(roles, { error: `must be one of ${roles.join(', ')}` });
const mostVenues = 100;
const venueCount = `must name 1 to ${mostVenues} venues; leave it out for the whole tenant`;

export const tokenCreation = z
  .strictObject({
    name: recordName,
    role,
    expiresAt: isoInput.nullish().meta({
      description:
        'When it ends, in the future, and no later than the token that makes it. Default: when that one ends, or never.',
    }),
    venueIds: z
      .array(recordId, venueCount)
      .min(1, venueCount)
      .max(mostVenues, venueCount)
      .nullish()
      .meta({ description: 'The only venues that it is for; the whole tenant unless given.' }),
  })
  .superRefine((creation, context) => {
    if (creation.role !== 'platform' || creation.venueIds == null) return;
    context.addIssue({
      code: 'custom',
      path: ['venueIds'],
      message: 'must be left out: a platform token belongs to no tenant',
    });
  })
  .meta({ id: 'TokenCreation' });
export const tokenQuery = z.strictObject({ ...pageQuery, ...nameQuery });

/** How far a token goes. */
const reach = {
  expiresAt: isoTime.nullable(),
  venueIds: z
    .array(recordId)
    .nullable()
    .meta({ description: 'The venues that it is bound to; null: the whole tenant.' }),
};

export const token = z
  .object({
    id: recordId,
    tenantId: recordId.nullable(),
    name: z.string(),
    role,
    ...reach,
    createdAt: isoTime,
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: 'Token' });

export const createdToken = z
  .object({
    ...token.shape,
    token: z.string().meta({ description: 'The token itself: in this answer only.' }),
  })
  .meta({ id: 'CreatedToken' });

export const me = z
  .object({
    tokenId: recordId,
    name: z.string(),
    role,
    ...reach,
    tenantId: recordId.nullable(),
    tenantName: z.string().nullable(),
  })
  .meta({ id: 'Me' });

export type TokenView = z.infer<typeof token>;
export type CreatedTokenView = z.infer<typeof createdToken>;
export type TokenCreation = z.infer<typeof tokenCreation>;
export type TokenQuery = z.infer<typeof tokenQuery>;
export type MeView = z.infer<typeof me>;

/** What `SIGNAGE_ADMIN_TOKEN` must look like; no checksum is asked of it. */
export const adminTokenForm = /^mak_[A-Za-z0-9]{24,}$/;
