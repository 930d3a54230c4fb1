import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isBetween, type Random } from '../clock.ts';
import { isoTime, recordId } from '../fields.ts';
import { codeAlphabet } from '../typed-code.ts';

const codeLength = 8;

/**
 * A code as sent by a TV (docs/protocol.md §3.1). It may contain characters that generated codes
 * never have.
 */
export const pairingCodeText = z
  .string()
  .regex(/^[A-Z0-9]{8}$/, 'must be exactly 8 characters of A-Z and 0-9')
  .meta({ example: 'ABCD2345' });

export const codeStatuses = ['pending', 'used', 'expired', 'cancelled'] as const;
export type CodeStatus = (typeof codeStatuses)[number];

/**
 * Returns uniformly distributed characters of codes. Uses rejection sampling: discards bytes that
 * would bias the distribution.
 */
export function codeCharacters(random: Random, length: number): string {
  const fair = 256 - (256 % codeAlphabet.length);
  let code = '';
  while (code.length < length) {
    for (const byte of random(length)) {
      if (byte < fair && code.length < length) code += codeAlphabet[byte % codeAlphabet.length];
    }
  }
  return code;
}

/** Returns a new code of 8 characters. */
export const makeCode = (random: Random): string => codeCharacters(random, codeLength);

/**
 * Returns the stored form of a code: an HMAC with the server's secret. It is also the id of the
 * code's record. A plain hash could be reversed by trying all 31^8 codes.
 */
export function hashCode(serverSecret: Uint8Array, code: string): string {
  return createHmac('sha256', serverSecret).update(`pairing-code\n${code}`).digest('hex');
}

interface CodeLife {
  state: 'pending' | 'used' | 'cancelled';
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  cancelledAt: number | null;
}

/**
 * Returns the status of a code at a time. A pending code past its expiry is expired
 * (docs/protocol.md §6).
 */
export function codeStatusAt(code: CodeLife, nowMs: number): CodeStatus {
  const isExpired = code.state === 'pending' && !isBetween(nowMs, code.createdAt, code.expiresAt);
  return isExpired ? 'expired' : code.state;
}

/** Returns the time at which a code was finished, or will expire. */
export function codeFinishedAt(code: CodeLife): number {
  return code.usedAt ?? code.cancelledAt ?? code.expiresAt;
}

export const codeCreation = z
  .object({
    screenId: recordId,
    simulated: z.boolean('must be true or false').optional().meta({
      description:
        'Whether the device that registers with the code is a simulated TV. Default: false.',
    }),
  })
  .meta({ id: 'CodeCreation' });

/** A member of the views of codes and devices. */
export const simulated = z
  .boolean()
  .meta({ description: 'Whether the device is a simulated TV, which reports can leave out.' });

const codeMembers = {
  code: z.string().meta({ example: 'ABCD2345' }),
  screenId: recordId,
  status: z.enum(codeStatuses),
  createdAt: isoTime,
  expiresAt: isoTime,
  simulated,
  expiresInSeconds: z.int().min(0).meta({ description: 'seconds left; 0 once finished' }),
};

export const createdCode = z.object(codeMembers).meta({ id: 'CreatedCode' });
export type CodeCreation = z.infer<typeof codeCreation>;
export type CreatedCode = z.infer<typeof createdCode>;

export const codeStatus = z
  .object({ ...codeMembers, usedAt: isoTime.nullable(), deviceId: recordId.nullable() })
  .meta({ id: 'CodeStatus' });
export type CodeStatusView = z.infer<typeof codeStatus>;

/**
 * Counter of guesses with unknown codes, by one source or by a group of sources. It is not a row:
 * stores keep it temporarily, and may lose it.
 */
export interface GuessCounter {
  /** Times of the guesses within the window. */
  times: readonly number[];
  /** End of the latest lock-out, and its length in milliseconds. */
  waitUntil: number;
  waitMs: number;
  /** Time at which the counter expires. */
  forgetAt: number;
  /**
   * By tenant id: time at which a credential of the tenant was last used successfully from this
   * source. Each instance updates it about once an hour.
   */
  vouched?: Readonly<Record<string, number>>;
}
