import { createHmac, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from './clock.ts';

/** `dak_` for a TV's key, `mak_` for a management token. */
export type KeyPrefix = 'dak_' | 'mak_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^[0-9A-Za-z]{49}$/;
const secretLength = 43;
const checksumLength = 6;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n)
    text = alphabet[Number(rest % 62n)] + text;
  return text;
}

/** The CRC-32 of the secret part, which a number holds: every request of a TV passes here. */
function checksumOf(secret: string): string {
  let text = '';
  for (let rest = crc32(secret); text.length < checksumLength; rest = Math.floor(rest / 62))
    text = alphabet[rest % 62] + text;
  return text;
}

function withChecksum(prefix: KeyPrefix, bytes: Uint8Array): string {
  const secret = base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), secretLength);
  return `${prefix}${secret}${checksumOf(secret)}`;
}

/**
 * A new key: the prefix, 43 base62 characters (256 bits), and the CRC-32 of those 43 as 6 base62 digits,
 * so that a typo is refused before any look-up and a leaked key can be recognised (docs/protocol.md §3.3).
 */
export function makeKey(prefix: KeyPrefix, random: Random): string {
  return withChecksum(prefix, random(32));
}

function derive(serverSecret: Uint8Array, text: string): string {
  return withChecksum('dak_', createHmac('sha256', serverSecret).update(text).digest());
}

/** The device key of one code and one `Idempotency-Key`: always the same, so that a lost answer can be repeated without keeping the key (docs/protocol.md §3.2). */
export function deriveDeviceKey(
  serverSecret: Uint8Array,
  pairingCode: string,
  idempotencyKey: string,
): string {
  return derive(serverSecret, `device-key\n${pairingCode}\n${idempotencyKey}`);
}

/**
 * The key in the row `nextId` that takes the place of another, by that one's id and one `Idempotency-Key`: always the same, for the same reason
 * (docs/protocol.md §2.8). No row comes twice, so that a key which was replaced can never be made again.
 */
export function deriveNextKey(
  serverSecret: Uint8Array,
  keyId: string,
  nextId: string,
  idempotencyKey: string,
): string {
  return derive(serverSecret, `next-device-key\n${keyId}\n${nextId}\n${idempotencyKey}`);
}

/** Whether a text has the form of a key with this prefix, checksum included. */
export function isKey(prefix: KeyPrefix, text: string): boolean {
  const rest = text.slice(prefix.length);
  if (!text.startsWith(prefix) || !form.test(rest)) return false;
  const secret = rest.slice(0, secretLength);
  return rest.slice(secretLength) === checksumOf(secret);
}

/** What is stored of a key or token: its SHA-256, in hex. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}
