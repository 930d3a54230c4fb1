import { createHmac, hash, hkdfSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { BoundedMap } from './bounded-map.ts';
import type { Random } from './clock.ts';

/**
 * `dak_`: key of a TV. `mak_`: management token. `clm_`: secret of a claim. `tkt_`: ticket. `lgn_`:
 * secret of a login request.
 */
export type KeyPrefix = 'dak_' | 'mak_' | 'clm_' | 'tkt_' | 'lgn_';

/** Anything that looks like a key, a token or another secret, or a part of it. */
const secretShape = /\b(dak|mak|clm|tkt|lgn)_[0-9A-Za-z]{16,}|\b(whsec)_[0-9A-Za-z+/]{16,}=*/g;

/** Replaces everything of the shape of a secret: `mak_…`. */
export const maskSecrets = (text: string): string => text.replace(secretShape, '$1$2_…');

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^[0-9A-Za-z]{49}$/;
const secretLength = 43;
const checksumLength = 6;
/** Length of every created key and token. A platform token chosen by the operator may differ. */
export const keyLength = 'dak_'.length + secretLength + checksumLength;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n)
    text = alphabet[Number(rest % 62n)] + text;
  return text;
}

/**
 * Returns the CRC-32 of the secret part of a key, as 6 base62 digits. Uses numbers, because
 * `bigint` is slower.
 */
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
 * Returns a new key: the prefix, 43 base62 characters (256 bits), and their CRC-32 as 6 base62
 * digits. The checksum rejects typos before any look-up, and makes leaked keys recognizable
 * (docs/protocol.md §3.3).
 */
export function makeKey(prefix: KeyPrefix, random: Random): string {
  return withChecksum(prefix, random(32));
}

function derive(serverSecret: Uint8Array, text: string, prefix: KeyPrefix = 'dak_'): string {
  return withChecksum(prefix, createHmac('sha256', serverSecret).update(text).digest());
}

/**
 * Derives the device key of one code and one `Idempotency-Key`. The result is deterministic, so the
 * response can be repeated after it was lost, although the key is not stored (docs/protocol.md
 * §3.2).
 */
export function deriveDeviceKey(
  serverSecret: Uint8Array,
  pairingCode: string,
  idempotencyKey: string,
): string {
  return derive(serverSecret, `device-key\n${pairingCode}\n${idempotencyKey}`);
}

/**
 * Derives the device key that replaces another one, from one `Idempotency-Key` (docs/protocol.md
 * §2.8). `keyId` is the row id of the old key, and `nextId` the row id of the new key. The result
 * is deterministic, as in `deriveDeviceKey`. Row ids are never reused, so a replaced key can never
 * be derived again.
 */
export function deriveNextKey(
  serverSecret: Uint8Array,
  keyId: string,
  nextId: string,
  idempotencyKey: string,
): string {
  return derive(serverSecret, `next-device-key\n${keyId}\n${nextId}\n${idempotencyKey}`);
}

/**
 * Derives the secret of a claim from its `Idempotency-Key`, so that the response can be repeated
 * (docs/protocol.md §3.6).
 */
export function deriveClaimToken(
  serverSecret: Uint8Array,
  claim: string,
  idempotencyKey: string,
): string {
  return derive(serverSecret, `claim-token\n${claim}\n${idempotencyKey}`, 'clm_');
}

/**
 * Returns a source of bytes derived with HKDF (RFC 5869) from the server's secret. Sources with the
 * same arguments yield the same sequence of bytes.
 */
export function derivedRandom(serverSecret: Uint8Array, salt: string, purpose: string): Random {
  let block = 0;
  return (length) =>
    new Uint8Array(hkdfSync('sha256', serverSecret, salt, `${purpose}\n${block++}`, length));
}

/** Returns whether a text is a well-formed key with this prefix, checksum included. */
export function isKey(prefix: KeyPrefix, text: string): boolean {
  const rest = text.slice(prefix.length);
  if (!text.startsWith(prefix) || !form.test(rest)) return false;
  const secret = rest.slice(0, secretLength);
  return rest.slice(secretLength) === checksumOf(secret);
}

/** Returns the stored form of a key or token: its SHA-256, in hex. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/**
 * Returns the token of an `Authorization: Bearer …` header (RFC 6750 §2.1), or `undefined`. The
 * scheme is case-insensitive.
 */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}

/** Hashes of recently verified keys and tokens. */
export type VerifiedHashes = BoundedMap<string, true>;

/**
 * Returns the hash of the device key in an `Authorization` header. Returns `undefined` for a
 * malformed key, so that typos need no look-up. The form of a key in `verified` is not checked
 * again.
 */
export function deviceKeyHash(authorization: string, verified: VerifiedHashes): string | undefined {
  const text = bearerToken(authorization);
  if (text?.length !== keyLength) return undefined;
  const hash = hashKey(text);
  return verified.get(hash) || isKey('dak_', text) ? hash : undefined;
}
