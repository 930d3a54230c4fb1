import { z } from 'zod';
import { isoTime, recordId, recordName } from '../fields.ts';
import { nameQuery, pageQuery } from '../paging.ts';

export const tenantCreation = z.strictObject({ name: recordName }).meta({ id: 'TenantCreation' });
export const tenantPatch = z
  .strictObject({ name: recordName.optional() })
  .meta({ id: 'TenantPatch' });
export const tenantQuery = z.strictObject({ ...pageQuery, ...nameQuery });

export const tenant = z
  .object({ id: recordId, name: z.string(), createdAt: isoTime, updatedAt: isoTime })
  .meta({ id: 'Tenant' });
export type TenantView = z.infer<typeof tenant>;
export type TenantCreation = z.infer<typeof tenantCreation>;
export type TenantPatch = z.infer<typeof tenantPatch>;
export type TenantQuery = z.infer<typeof tenantQuery>;
