import { readFileSync } from 'node:fs';

interface HostileValues {
  /** Difficult for parsers, databases, terminals and templates. */
  texts: string[];
  /** As text, because JavaScript cannot represent all of them. */
  numbers: string[];
  /** Of all other kinds, as JSON. */
  values: string[];
  /** Not valid JSON. */
  bodies: string[];
}

const file = new URL('../../fixtures/hostile/values.json', import.meta.url);
const short: HostileValues = JSON.parse(readFileSync(file, 'utf8'));

export const hostileTexts: readonly string[] = [
  ...short.texts,
  ...[200, 201, 255, 256, 501, 5000].map((length) => 'x'.repeat(length)),
  '\u0300'.repeat(300),
  '😀'.repeat(200),
];

/** JSON texts. */
export const hostileValues: readonly string[] = [
  ...short.numbers,
  ...short.values,
  `1${'0'.repeat(400)}`,
  `${'{"a":'.repeat(66)}1${'}'.repeat(66)}`,
];

/** Bodies that are not valid JSON, too long, or in another encoding. */
export const hostileBodies: readonly (string | Buffer)[] = [
  ...short.bodies,
  '['.repeat(20_000),
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  Buffer.from('\ufeff{}'),
  Buffer.from('{"name":"x"}', 'utf16le'),
  Buffer.from('{"\xff\xfe":1}', 'latin1'),
  Buffer.from('"\xed\xa0\x80"', 'latin1'),
  Buffer.from('"\xc0\xaf"', 'latin1'),
  // An empty object, compressed with gzip.
  Buffer.from('1f8b0800000000000003abae0500 43bfa6a302000000'.replace(' ', ''), 'hex'),
  Buffer.alloc(17 * 1024, ' '),
  `[${'"x",'.repeat(300_000)}1]`,
];
