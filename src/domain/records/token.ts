import { z } from 'zod';
import { isoInput, isoTime, recordId, recordName } from '../fields.ts';
import { nameQuery, pageQuery } from '../paging.ts';
import { isPlatformRole, roles } from './role.ts';

const role = z.enum(roles, { error: `must be one of ${roles.join(', ')}` });
const maxVenues = 100;
const venueCount = `must name 1 to ${maxVenues} venues; leave it out for the whole tenant`;

export const tokenCreation = z
  .strictObject({
    name: recordName,
    role,
    expiresAt: isoInput.nullish().meta({
      description:
        'Expiry time, in the future and at most that of the creating token. ISO 8601 with a zone, or a date. Default: that of the creating token.',
      example: '2099-12-31T23:00:00Z',
    }),
    venueIds: z
      .array(recordId, venueCount)
      .min(1, venueCount)
      .max(maxVenues, venueCount)
      .nullish()
      .meta({ description: 'The venues that the token is bound to. Default: the whole tenant.' }),
  })
  .superRefine((creation, context) => {
    if (!isPlatformRole(creation.role) || creation.venueIds == null) return;
    context.addIssue({
      code: 'custom',
      path: ['venueIds'],
      message: `must be left out: a ${creation.role} token belongs to no tenant`,
    });
  })
  .meta({ id: 'TokenCreation' });
export const tokenQuery = z.strictObject({ ...pageQuery, ...nameQuery });

/** Expiry and venue binding of a token. */
const limits = {
  expiresAt: isoTime.nullable(),
  venueIds: z
    .array(recordId)
    .nullable()
    .meta({ description: 'The venues that the token is bound to. null: the whole tenant.' }),
};

export const token = z
  .object({
    id: recordId,
    tenantId: recordId.nullable(),
    name: z.string(),
    role,
    ...limits,
    createdAt: isoTime,
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: 'Token' });

export const createdToken = z
  .object({
    ...token.shape,
    token: z.string().meta({ description: 'The token itself. Returned only in this response.' }),
  })
  .meta({ id: 'CreatedToken' });

export const rotatedToken = z
  .object({
    ...createdToken.shape,
    oldTokenUntil: isoTime.meta({
      description:
        'Time from which the replaced secret is rejected. The first use of the new secret rejects it earlier.',
    }),
  })
  .meta({ id: 'RotatedToken' });

export const me = z
  .object({
    tokenId: recordId,
    name: z.string(),
    role,
    ...limits,
    tenantId: recordId.nullable(),
    tenantName: z.string().nullable(),
  })
  .meta({ id: 'Me' });

export type TokenView = z.infer<typeof token>;
export type CreatedTokenView = z.infer<typeof createdToken>;
export type RotatedTokenView = z.infer<typeof rotatedToken>;
export type TokenCreation = z.infer<typeof tokenCreation>;
export type TokenQuery = z.infer<typeof tokenQuery>;
export type MeView = z.infer<typeof me>;

/** Required form of `SIGNAGE_ADMIN_TOKEN`. It needs no checksum. */
export const adminTokenForm = /^mak_[A-Za-z0-9]{24,}$/;
