import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deriveDeviceKey,
  deriveNextKey,
  hashKey,
  isKey,
  makeKey,
} from '../../src/domain/api-key.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const prefixes = fc.constantFrom('dak_' as const, 'mak_' as const);
const value = (digits: string) =>
  [...digits].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n);

describe('makeKey', () => {
  it('returns the prefix, 256 bits in base62, and their CRC-32', () => {
    fc.assert(
      fc.property(prefixes, secretBytes, (prefix, bytes) => {
        const key = makeKey(prefix, () => bytes);
        expect(key).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
        expect(value(key.slice(4, 47))).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
        expect(value(key.slice(47))).toBe(BigInt(crc32(key.slice(4, 47))));
        expect(isKey(prefix, key)).toBe(true);
      }),
    );
  });

  it('draws 32 random bytes, and no two keys are equal', () => {
    const asked: number[] = [];
    const random = (length: number) => {
      asked.push(length);
      return randomBytes(length);
    };
    const keys = Array.from({ length: 100 }, () => makeKey('dak_', random));
    expect(new Set(keys).size).toBe(100);
    expect(new Set(asked)).toEqual(new Set([32]));
  });

  it('encodes the smallest and the largest value', () => {
    expect(makeKey('dak_', () => new Uint8Array(32))).toMatch(/^dak_0{43}/);
    const largest = makeKey('mak_', () => new Uint8Array(32).fill(255));
    expect(value(largest.slice(4, 47))).toBe(2n ** 256n - 1n);
  });
});

describe('isKey', () => {
  const key = makeKey('dak_', randomBytes);

  it('rejects a key with one changed character', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 52 }), fc.constantFrom(...alphabet), (at, digit) => {
        const other = key.slice(0, at) + digit + key.slice(at + 1);
        expect(isKey('dak_', other)).toBe(other === key);
      }),
    );
  });

  it('rejects a key with two swapped characters', () => {
    for (let at = 4; at < 52; at++) {
      const other = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
      expect(isKey('dak_', other)).toBe(other === key);
    }
  });

  it('rejects another prefix, a wrong length, and other texts', () => {
    for (const text of [
      '',
      'dak_',
      key.slice(1),
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      `DAK_${key.slice(4)}`,
    ]) {
      expect(isKey('dak_', text), text).toBe(false);
    }
    expect(isKey('mak_', key)).toBe(false);
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => !isKey('dak_', text)));
  });
});

describe('deriveDeviceKey', () => {
  const secret = randomBytes(32);

  it('returns the same key for the same secret, code and Idempotency-Key', () => {
    fc.assert(
      fc.property(secretBytes, fc.string(), fc.string(), (server, code, idempotencyKey) => {
        const key = deriveDeviceKey(server, code, idempotencyKey);
        expect(key).toBe(deriveDeviceKey(server, code, idempotencyKey));
        expect(isKey('dak_', key)).toBe(true);
      }),
    );
  });

  it('returns another key for another secret, code or Idempotency-Key', () => {
    const keys = [
      deriveDeviceKey(secret, 'ABCD2345', 'one-idempotency-key'),
      deriveDeviceKey(secret, 'ABCD2345', 'two-idempotency-key'),
      deriveDeviceKey(secret, 'ABCD2346', 'one-idempotency-key'),
      deriveDeviceKey(randomBytes(32), 'ABCD2345', 'one-idempotency-key'),
    ];
    expect(new Set(keys).size).toBe(4);
  });
});

describe('deriveNextKey', () => {
  const secret = randomBytes(32);

  it('returns the same key for the same secret, key, row and Idempotency-Key', () => {
    fc.assert(
      fc.property(
        secretBytes,
        fc.uuid(),
        fc.uuid(),
        fc.string(),
        (server, keyId, nextId, idempotencyKey) => {
          const key = deriveNextKey(server, keyId, nextId, idempotencyKey);
          expect(key).toBe(deriveNextKey(server, keyId, nextId, idempotencyKey));
          expect(isKey('dak_', key)).toBe(true);
        },
      ),
    );
  });

  it('returns another key for another secret, key, row or Idempotency-Key, never a key of a registration', () => {
    const keys = [
      deriveNextKey(secret, 'key 1', 'row 1', 'one-idempotency-key'),
      deriveNextKey(secret, 'key 1', 'row 1', 'two-idempotency-key'),
      deriveNextKey(secret, 'key 1', 'row 2', 'one-idempotency-key'),
      deriveNextKey(secret, 'key 2', 'row 1', 'one-idempotency-key'),
      deriveNextKey(randomBytes(32), 'key 1', 'row 1', 'one-idempotency-key'),
      deriveDeviceKey(secret, 'key 1', 'one-idempotency-key'),
    ];
    expect(new Set(keys).size).toBe(6);
  });
});

it('hashKey returns the SHA-256 in hex', () => {
  expect(hashKey('dak_x')).toBe(createHash('sha256').update('dak_x').digest('hex'));
});
