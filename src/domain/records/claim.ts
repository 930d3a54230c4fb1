import { z } from 'zod';
import { derivedRandom } from '../api-key.ts';
import { isBetween, type Random } from '../clock.ts';
import { isoTime, recordId } from '../fields.ts';
import { pageQuery, waitSecondsUpTo } from '../paging.ts';
import { deviceInfo, shownDeviceInfo } from './device.ts';
import { codeCharacters, makeCode } from './pairing-code.ts';
import type { Claim } from './rows.ts';

const claimLength = 6;

/** A claim as an installer types it (docs/protocol.md §3.6). */
export const claimText = z
  .string()
  .regex(/^[A-Z0-9]{6}$/, 'must be exactly 6 characters of A-Z and 0-9')
  .meta({ example: 'K7Q2MX' });

/** Returns a new claim of 6 uniformly distributed characters. */
export const makeClaim = (random: Random): string => codeCharacters(random, claimLength);

/**
 * Returns the pairing code of an offer. It is derived from the server's secret, so no store
 * contains it, and each instance can return it to the TV.
 */
export function offeredCode(serverSecret: Uint8Array, claimId: string, offerId: string): string {
  return makeCode(derivedRandom(serverSecret, offerId, `offered-code\n${claimId}`));
}

/**
 * Returns whether a TV with this claim still waits for an installer, or for the code of an offer.
 */
export const isLiveClaim = ({ createdAt, expiresAt }: Claim, nowMs: number): boolean =>
  isBetween(nowMs, createdAt, expiresAt);

export const claimCreation = z
  .object({
    deviceInfo,
    ticket: z.string('must be a string').optional().meta({
      description: 'Secret of a ticket, with which the TV enrols itself.',
      example: 'tkt_…',
    }),
  })
  .meta({ id: 'ClaimCreation' });
export type ClaimCreation = z.infer<typeof claimCreation>;

export const expiresInSeconds = z.int().min(0).meta({ description: 'seconds left' });

export const createdClaim = z
  .object({
    claim: claimText.meta({ description: 'The text that the TV shows.' }),
    token: z.string().meta({
      description: 'Secret with which the TV reads the claim.',
      example: 'clm_…',
    }),
    expiresInSeconds,
  })
  .meta({ id: 'CreatedClaim' });
export type CreatedClaim = z.infer<typeof createdClaim>;

export const claimStatusQuery = z.strictObject({
  waitSeconds: waitSecondsUpTo(50),
});

const claimStates = ['waiting', 'offered'] as const;

export const claimStatus = z
  .object({
    status: z.enum(claimStates),
    pairingCode: z.string().nullable().meta({ description: '`null` while waiting' }),
    expiresInSeconds,
    offer: z
      .object({
        tenant: z.string(),
        tenantId: recordId,
        venue: z.string(),
        screen: z.string(),
        confirm: z.boolean().meta({
          description: 'Whether somebody at the TV must confirm the offer before the TV registers.',
        }),
      })
      .nullable()
      .meta({ description: 'The screen that was offered. `null` while waiting.' }),
    identifySeconds: z.int().optional().meta({
      description:
        'How long a waiting TV with a ticket draws its claim, large. Absent: it does not.',
    }),
  })
  .meta({ id: 'ClaimStatus' });
export type ClaimStatusView = z.infer<typeof claimStatus>;

const text = z.string().nullable();
export const claim = z
  .object({
    claim: claimText,
    status: z.enum(claimStates),
    deviceInfo: shownDeviceInfo,
    address: text.meta({
      description: 'Address from which the TV made the claim. `null`: unknown.',
    }),
    createdAt: isoTime,
    expiresInSeconds,
    ticketId: recordId.nullable().optional().meta({ description: '`null`: without a ticket.' }),
    venueId: recordId.nullable().optional().meta({ description: 'The venue of its ticket.' }),
    expectedScreenId: recordId.nullable().optional().meta({
      description: 'The one free screen of the venue that expects the serial number of the TV.',
    }),
  })
  .meta({ id: 'Claim' });

export const claimQuery = z.strictObject({
  ...pageQuery,
  venueId: recordId.optional().meta({ description: 'Only TVs with tickets of this venue.' }),
});
export type ClaimQuery = z.infer<typeof claimQuery>;

export type ClaimView = z.infer<typeof claim>;

export const offerCreation = z.strictObject({ screenId: recordId }).meta({ id: 'OfferCreation' });
