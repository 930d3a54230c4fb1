import { z } from 'zod';
import { nameQuery, pageQuery } from './list.ts';
import { roles } from './role.ts';
import { isoTime, recordId, recordName } from './scalars.ts';

const role = z.enum(roles, { error: `must be one of ${roles.join(', ')}` });

export const tokenCreation = z.strictObject({ name: recordName, role }).meta({ id: 'TokenCreation' });
export const tokenQuery = z.strictObject({ ...pageQuery, ...nameQuery });

export const token = z
  .object({
    id: recordId,
    tenantId: recordId.nullable(),
    name: z.string(),
    role,
    createdAt: isoTime,
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: 'Token' });

export const createdToken = z
  .object({ ...token.shape, token: z.string().meta({ description: 'The token itself: in this answer only.' }) })
  .meta({ id: 'CreatedToken' });

export const me = z
  .object({
    tokenId: recordId,
    name: z.string(),
    role,
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
