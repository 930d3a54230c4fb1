import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SecretNames } from '../../../src/cli/record/secret-names.ts';

const names = () => {
  const made = new SecretNames();
  made.ofCode('ABCD2345');
  made.ofCredential('dak_0123456789abcdefghijKLMNOP');
  made.ofMac('02:00:5E:10:00:01');
  made.ofIdempotencyKey('batch-0123-4567-89ab', 1);
  return made;
};

describe('a name in place of a secret', () => {
  it.each([
    ['ABCD2345', 'code_#1'],
    ['abcd-2345', 'code_#1'],
    ['A B C D 2.3.4.5', 'code_#1'],
    ['%41BCD%32345', 'code_#1'],
    ['%2541BCD2345', 'code_#1'],
    [String.raw`{"code":"\u0041BCD2345"}`, '{"code":"code_#1"}'],
    ['xABCD2345y', 'xcode_#1y'],
    ['Bearer dak_0123456789abcdefghijKLMNOP!', 'Bearer dak_#1!'],
    ['dak-0123456789ABCDEFGHIJ klmnop', 'dak_#1'],
    ['0123456789abcdefghijKLMNOP', 'dak_#1'],
    ['dak_other', 'dak_#2'],
    ['MAK_0123', 'mak_#1'],
    ['02005e100001', 'mac_#1'],
    ['02-00-5e-10-00-01', 'mac_#1'],
    ['AA:BB:CC:DD:EE:FF', 'mac_#2'],
    ['aabb.ccdd.eeff', 'mac_#2'],
    ['mac=0A1B2C3D4E5F;', 'mac=mac_#2;'],
    ['key batch0123456789AB', 'key idempotency_#1'],
    ['http://192.0.2.17:4100/x', 'http://ip_#1:4100/x'],
    ['[2001:db8::1]:80 and ::ffff:10.0.0.1.', '[ip_#2]:80 and ::ffff:ip_#1.'],
    ['EFGH6789', 'code_#2'],
    ['EFGH-6789', 'code_#2'],
  ])('replaces %j', (text, replaced) => {
    expect(names().inText(text)).toBe(replaced);
  });

  it.each([
    '0190A5B4-6F00-7C3E-9D2A-5B8F1E2C3D4E',
    '2026-11-20T12:00:00.000Z',
    'Tizen 7.0, QM55C, 10.0.19045.3803',
    'https://media.example.com/a%20b.mp4?x=1&y=2',
    'build 202611201200 of decaffeinated deadbeefcafe',
    'BUFFERING of an item took 12:34:56',
    'std::vector, dead:beef, 1:2:3',
    '"9fJ2kQxZ0vYb3LwTn8sRcA"',
  ])('leaves %j', (text) => {
    expect(names().inText(text)).toBe(text);
  });

  it('is the same for the same secret, and another for another', () => {
    const made = new SecretNames();
    expect(made.ofMac('02:00:5E:10:00:01')).toBe('mac_#1');
    expect(made.ofMac('02-00-5e-10-00-01')).toBe('mac_#1');
    expect(made.ofMac('02:00:5E:10:00:02')).toBe('mac_#2');
  });

  it('does not search for dummies and short idempotency keys, which stand in ordinary texts', () => {
    const made = new SecretNames();
    expect(made.ofMac('00:00:00:00:00:00')).toBe('mac_#1');
    expect(made.ofIdempotencyKey('heartbeat', 1)).toBe('idempotency_#1');
    const text = 'heartbeat 7b0c5a1e-3f2d-4e6b-8a9c-000000000000';
    expect(made.inText(text)).toBe(text);
  });

  it('stands for a malformed value, which a replay cannot mend', () => {
    const made = new SecretNames();
    expect(made.ofCode('abcd-2345')).toBe('private_#1');
    expect(made.ofCode('ABCD2345')).toBe('code_#1');
    expect(made.inText('ABCD 2345')).toBe('code_#1');
    expect(made.ofMac('unknown')).toBe('private_#2');
    expect(made.ofIp('10.0.0')).toBe('private_#3');
    expect(made.ofIdempotencyKey('short', 16)).toBe('private_#4');
  });
});

const alphabet = [...'ABCDEFGHJKMNPQRSTUVWXYZ23456789'];
const spellings: ((character: string) => string)[] = [
  (character) => character,
  (character) => character.toLowerCase(),
  (character) => `%${character.charCodeAt(0).toString(16)}`,
  (character) => `%25${character.charCodeAt(0).toString(16)}`,
  (character) => String.raw`\u00${character.charCodeAt(0).toString(16)}`,
  (character) => `${character}-`,
  (character) => `${character} . `,
];

it('hides a known code in every mixture of spellings', () => {
  const code = fc.array(fc.constantFrom(...alphabet), { minLength: 8, maxLength: 8 });
  const spelling = fc.array(fc.integer({ min: 0, max: spellings.length - 1 }), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(
      fc.tuple(code, spelling, fc.string(), fc.string()),
      ([characters, ways, before, after]) => {
        const made = new SecretNames();
        made.ofCode(characters.join(''));
        const spelled = characters.map((one, at) => spellings[ways[at] ?? 0]?.(one)).join('');
        const shown = made.inText(`${before}|${spelled}|${after}`);
        const plain = decodeAll(shown)
          .replaceAll(/[^a-z0-9]/gi, '')
          .toLowerCase();
        // A code of equal characters is taken for a dummy.
        if (new Set(characters).size > 1)
          expect(plain).not.toContain(characters.join('').toLowerCase());
      },
    ),
  );
});

const decodeAll = (text: string) =>
  text.replaceAll(/(?:%(?:25)*|\\u00)([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

it.each([':', '%', '%25', '0', 'ABCD', '::1 ', '1.', 'dak_', 'aa:', String.raw`\u00`])(
  'takes little time for 256 KiB of %j',
  (piece) => {
    const started = performance.now();
    names().inText(piece.repeat(2 ** 18 / piece.length));
    expect(performance.now() - started).toBeLessThan(5000);
  },
);

it.each([16, 240])('hides %i secrets with the same beginning, in little time', (count) => {
  const made = new SecretNames();
  const secrets = Array.from({ length: count }, (_, at) => `${'a'.repeat(15 + at)}9`);
  for (const secret of secrets) made.ofIdempotencyKey(secret, 16);
  for (const secret of secrets) expect(made.inText(`<${secret}>`)).not.toContain(secret);
  const started = performance.now();
  made.inText('a'.repeat(2 ** 18));
  expect(performance.now() - started).toBeLessThan(5000);
});
