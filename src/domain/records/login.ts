import { z } from 'zod';
import { displayName, isoInput, isoTime } from '../fields.ts';
import { expiresInSeconds } from './claim.ts';
import { pairingCodeText } from './pairing-code.ts';
import { tenantRoles } from './role.ts';
import { me, tokenCreation } from './token.ts';

/** What the asker says of itself. Nothing of it is checked. */
const asker = {
  user: displayName(64).meta({ example: 'alice' }),
  host: displayName(100).meta({ example: 'front-desk' }),
};
const code = pairingCodeText.meta({ description: 'The code that the asker reads out.' });
const status = z.enum(['waiting', 'approved']);

export const loginCreation = z.strictObject(asker).meta({ id: 'LoginCreation' });

export const createdLogin = z
  .object({
    code,
    secret: z.string().meta({
      description: 'Secret with which the asker reads the request.',
      example: 'lgn_…',
    }),
    expiresInSeconds,
  })
  .meta({ id: 'CreatedLogin' });

export const loginStatus = z
  .object({
    status,
    expiresInSeconds,
    grant: z
      .object({
        ...me.shape,
        venueNames: z.array(z.string()).nullable(),
        token: z.string().meta({ description: 'The token itself.', example: 'mak_…' }),
      })
      .nullable()
      .meta({ description: 'The token of the approval. `null` while waiting.' }),
  })
  .meta({ id: 'LoginStatus' });

export const login = z
  .object({
    code,
    status,
    user: z.string(),
    host: z.string(),
    address: z.string().nullable().meta({
      description: 'Address from which the request was made. `null`: unknown.',
    }),
    createdAt: isoTime,
    expiresInSeconds,
  })
  .meta({ id: 'Login' });

const { name, venueIds } = tokenCreation.shape;

export const loginApproval = z
  .strictObject({
    name,
    // Nobody can be talked into giving away the whole service.
    role: z.enum(tenantRoles, { error: `must be one of ${tenantRoles.join(', ')}` }),
    expiresAt: isoInput.meta({
      description: 'Expiry time, in the future. The token expires with its approver at the latest.',
    }),
    venueIds: venueIds.meta({
      description: 'The venues that the token is bound to. Required without `allVenues`.',
    }),
    allVenues: z
      .literal(true)
      .optional()
      .meta({ description: 'Binds the token to no venue. Required without `venueIds`.' }),
  })
  .refine(({ venueIds, allVenues }) => (venueIds == null) === (allVenues === true), {
    path: ['venueIds'],
    message: 'must be given, or "allVenues": true instead',
  })
  .meta({ id: 'LoginApprovalInput' });

export type LoginCreation = z.infer<typeof loginCreation>;
export type CreatedLogin = z.infer<typeof createdLogin>;
export type LoginStatusView = z.infer<typeof loginStatus>;
export type LoginView = z.infer<typeof login>;
export type LoginApproval = z.infer<typeof loginApproval>;
