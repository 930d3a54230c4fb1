import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { lineOf } from '../../../src/store/dump/dump.ts';
import type { FuzzRandom } from '../fuzz/random.ts';
import { spoiltBodies } from '../fuzz/spoil-json.ts';

/** Returns a defective dump, made from a valid one. */
export type Mutation = (sound: Buffer, fuzzRandom: FuzzRandom) => Uint8Array;

const pieces = [1, 2, 9, 100, 1024, 5000];

/** Changes the lines of the dump, which have their line feeds. */
export const onLines =
  (change: (lines: string[], fuzzRandom: FuzzRandom) => unknown): Mutation =>
  (sound, fuzzRandom) => {
    const lines = sound.toString('latin1').match(/.*\n/g) as string[];
    change(lines, fuzzRandom);
    return Buffer.from(lines.join(''), 'latin1');
  };

/** Replaces a random line. */
const onLine = (change: (line: string, fuzzRandom: FuzzRandom) => string): Mutation =>
  onLines((lines, fuzzRandom) => {
    const at = fuzzRandom.whole(0, lines.length - 1);
    lines[at] = change(lines[at] as string, fuzzRandom);
  });

export const jsonOf = (line: string) => JSON.parse(Buffer.from(line.slice(9), 'latin1').toString());
export const lineWith = (json: string) => Buffer.from(lineOf(json)).toString('latin1');

/** Spoils the JSON of a line, and gives it a valid checksum. */
export function spoilt(line: string, fuzzRandom: FuzzRandom): string {
  const texts = spoiltBodies(fc.constant(jsonOf(line)));
  const [text = ''] = fc.sample(texts, { seed: fuzzRandom.whole(0, 2 ** 31 - 1), numRuns: 1 });
  return lineWith(text.toString().replaceAll('\n', ' '));
}

/** Gives the last line the SHA-256 of the lines before it. */
export function sealed(lines: string[]): void {
  const { end } = jsonOf(lines.at(-1) as string);
  const before = Buffer.from(lines.slice(0, -1).join(''), 'latin1');
  const sha256 = createHash('sha256').update(before).digest('hex');
  lines[lines.length - 1] = lineWith(JSON.stringify({ end: { ...end, sha256 } }));
}

export const mutations: Record<string, Mutation> = {
  'bytes flipped': (sound, fuzzRandom) => {
    const bytes = Buffer.from(sound);
    for (let left = fuzzRandom.whole(1, 8); left > 0; left--) {
      const at = fuzzRandom.whole(0, bytes.length - 1);
      bytes[at] = (bytes[at] as number) ^ fuzzRandom.whole(1, 255);
    }
    return bytes;
  },
  'cut short': (sound, fuzzRandom) => sound.subarray(0, fuzzRandom.whole(0, sound.length - 1)),
  'a piece left out': (sound, fuzzRandom) => {
    const at = fuzzRandom.whole(0, sound.length - 1);
    return Buffer.concat([sound.subarray(0, at), sound.subarray(at + fuzzRandom.one(pieces))]);
  },
  'a piece twice': (sound, fuzzRandom) => {
    const at = fuzzRandom.whole(0, sound.length - 1);
    return Buffer.concat([sound.subarray(0, at + fuzzRandom.one(pieces)), sound.subarray(at)]);
  },
  'a line twice': onLine((line) => line + line),
  'a line left out': onLine(() => ''),
  'an empty line': onLine((line) => `\n${line}`),
  'another order': onLines((lines, fuzzRandom) => {
    const moved = lines.splice(fuzzRandom.whole(0, lines.length - 1), 1);
    lines.splice(fuzzRandom.whole(0, lines.length), 0, ...moved);
  }),
  'a line with other contents and a valid checksum': onLine(spoilt),
  'a record with other contents, a valid checksum and a valid SHA-256': onLines(
    (lines, fuzzRandom) => {
      const at = fuzzRandom.whole(0, lines.length - 2);
      lines[at] = spoilt(lines[at] as string, fuzzRandom);
      sealed(lines);
    },
  ),
  'a record left out, and a valid SHA-256': onLines((lines, fuzzRandom) => {
    lines.splice(fuzzRandom.whole(0, lines.length - 2), 1);
    sealed(lines);
  }),
  'no checksum': onLine((line) => line.slice(9)),
  'lines ended as on Windows': onLines((lines) => {
    for (const [at, line] of lines.entries()) lines[at] = line.replace('\n', '\r\n');
  }),
  'something after the end': (sound, fuzzRandom) =>
    Buffer.concat([sound, fuzzRandom.bytes(fuzzRandom.whole(1, 5000))]),
  'two dumps': (sound) => Buffer.concat([sound, sound]),
  gzip: (sound) => gzipSync(sound),
  'no dump': (_, fuzzRandom) => fuzzRandom.bytes(fuzzRandom.whole(0, 5000)),
};
