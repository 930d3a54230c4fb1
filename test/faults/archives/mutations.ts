import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { FuzzRandom } from '../fuzz/random.ts';
import { spoiltBodies } from '../fuzz/spoil-json.ts';
import {
  base256,
  contentOf,
  entryOf,
  type Fields,
  nameOf,
  paxRecord,
  putTogether,
  type TarBlocks,
  takeApart,
  withFields,
} from './tar-blocks.ts';

/** Returns a defective archive, made from a valid one. */
type Mutation = (sound: Buffer, fuzzRandom: FuzzRandom) => Uint8Array;

const badNames = [
  '',
  'documents/\u0000.json',
  'documents/\u202e.json',
  'documents/\u001b[2J.json',
  'x'.repeat(100),
  ...'../outside.json ../../etc/passwd /etc/passwd / . .. documents documents/'.split(' '),
  ...'documents/../../outside.json lock.sock copy.json restore.unfinished admin-token'.split(' '),
  ...'C:\\windows.json documents\\x.json __proto__ constructor MANIFEST.JSON'.split(' '),
  'manifest.json.tmp',
];
const types = [...'1234567gLKSDMVNAXx\0\u007f\u00ff'];
const paxSizes = [0, 1, 511, 512, 513, 1000, 65_535, 65_536, 65_537, 100_000, 1_000_000];
const pieces = [1, 100, 512, 1024, 5000];

/** Mutates the entries of the archive. */
const onEntries =
  (change: (entries: TarBlocks[], fuzzRandom: FuzzRandom) => unknown): Mutation =>
  (sound, fuzzRandom) => {
    const entries = takeApart(sound);
    change(entries, fuzzRandom);
    return putTogether(entries);
  };

/** Replaces a random entry. */
const onEntry = (change: (entry: TarBlocks, fuzzRandom: FuzzRandom) => TarBlocks[]): Mutation =>
  onEntries((entries, fuzzRandom) => {
    const at = fuzzRandom.whole(0, entries.length - 1);
    entries.splice(at, 1, ...change(entries[at] as TarBlocks, fuzzRandom));
  });

/** Gives a random entry other fields, and the right checksum of its header. */
const otherFields = (fields: (fuzzRandom: FuzzRandom, entry: TarBlocks) => Fields): Mutation =>
  onEntry((entry, fuzzRandom) => [
    { ...entry, header: withFields(entry.header, fields(fuzzRandom, entry)) },
  ]);

/** Inserts an entry before a random one. */
const inserted = (
  fields: (fuzzRandom: FuzzRandom) => Fields,
  body: (fuzzRandom: FuzzRandom, next: TarBlocks) => Uint8Array,
): Mutation =>
  onEntry((next, fuzzRandom) => [
    entryOf(next.header, fields(fuzzRandom), body(fuzzRandom, next)),
    next,
  ]);

const anySize = (fuzzRandom: FuzzRandom) =>
  fuzzRandom.one<number | Uint8Array>([
    ...[0, 1, 512, 5000, 2 ** 31, 2 ** 33 - 1, fuzzRandom.whole(0, 100_000)],
    ...[0n, BigInt(fuzzRandom.whole(0, 10_000)), 2n ** 40n, 2n ** 63n].map((size) => base256(size)),
    ...[base256(-1n, true), Buffer.alloc(12, 0xff), Buffer.alloc(12), fuzzRandom.bytes(12)],
    ...['            ', '-0000000001\0', '99999999999\0'].map((text) => Buffer.from(text)),
  ]);

const paxData = (fuzzRandom: FuzzRandom) => {
  const bytes = fuzzRandom.one(paxSizes);
  return fuzzRandom.one<() => Uint8Array>([
    () => Buffer.alloc(bytes, '1\n'),
    () => Buffer.alloc(bytes, '9'),
    () => Buffer.alloc(bytes),
    () => fuzzRandom.bytes(Math.min(bytes, 2000)),
    () => Buffer.from(paxRecord('comment', 'x'.repeat(bytes))),
    () => Buffer.from(paxRecord('GNU.sparse.major', '1').repeat(Math.ceil(bytes / 22))),
  ])();
};

const lie = (fuzzRandom: FuzzRandom) =>
  fuzzRandom.one([
    paxRecord('path', fuzzRandom.one(badNames)),
    paxRecord('size', fuzzRandom.one(['0', '1', '-1', '1e3', '9'.repeat(20), '', '7000'])),
    paxRecord('linkpath', '/etc/passwd'),
    paxRecord('GNU.sparse.realsize', '1'),
  ]);

const truth = (entry: TarBlocks) =>
  paxRecord('size', String(contentOf(entry).length)) +
  paxRecord('path', nameOf(entry)) +
  paxRecord('mtime', '1.5');

/** Spoils the list of files or the checksums, in an otherwise valid entry. */
const otherList = (name: string): Mutation =>
  onEntries((entries, fuzzRandom) => {
    const at = entries.findIndex((one) => nameOf(one) === name);
    const entry = entries[at] as TarBlocks;
    const texts = spoiltBodies(fc.constant(JSON.parse(contentOf(entry).toString())));
    const [text] = fc.sample(texts, { seed: fuzzRandom.whole(0, 2 ** 31 - 1), numRuns: 1 });
    entries[at] = entryOf(entry.header, {}, Buffer.from(text ?? ''));
  });

export const mutations: Record<string, Mutation> = {
  'bytes flipped': (sound, fuzzRandom) => {
    const bytes = Buffer.from(sound);
    for (let left = fuzzRandom.whole(1, 8); left > 0; left--) {
      const at = fuzzRandom.whole(0, bytes.length - 1);
      bytes[at] = (bytes[at] as number) ^ fuzzRandom.whole(1, 255);
    }
    return bytes;
  },
  'a header with other bytes and a right checksum': onEntry((entry, fuzzRandom) => {
    const header = Buffer.from(entry.header);
    for (let left = fuzzRandom.whole(1, 8); left > 0; left--)
      header[fuzzRandom.whole(0, 511)] = fuzzRandom.whole(0, 255);
    return [{ ...entry, header: withFields(header, {}) }];
  }),
  'cut short': (sound, fuzzRandom) => sound.subarray(0, fuzzRandom.whole(0, sound.length - 1)),
  'a piece left out': (sound, fuzzRandom) => {
    const at = fuzzRandom.whole(0, sound.length - 1);
    return Buffer.concat([sound.subarray(0, at), sound.subarray(at + fuzzRandom.one(pieces))]);
  },
  'a piece twice': (sound, fuzzRandom) => {
    const at = fuzzRandom.whole(0, sound.length - 1);
    return Buffer.concat([sound.subarray(0, at + fuzzRandom.one(pieces)), sound.subarray(at)]);
  },
  'an entry twice': onEntries((entries, fuzzRandom) =>
    entries.splice(fuzzRandom.whole(0, entries.length), 0, fuzzRandom.one(entries)),
  ),
  'an entry left out': onEntry(() => []),
  'another order': onEntries((entries, fuzzRandom) => {
    const moved = entries.splice(fuzzRandom.whole(0, entries.length - 1), 1);
    entries.splice(fuzzRandom.whole(0, entries.length), 0, ...moved);
  }),
  'another name': otherFields((fuzzRandom) => ({ name: fuzzRandom.one(badNames) })),
  'another name in the list as well': onEntries((entries, fuzzRandom) => {
    const at = fuzzRandom.whole(1, entries.length - 2);
    const [name, list, entry] = [fuzzRandom.one(badNames), entries[0], entries[at]];
    const head = JSON.parse(contentOf(list as TarBlocks).toString());
    head.files[at - 1].name = name;
    entries[0] = entryOf((list as TarBlocks).header, {}, Buffer.from(JSON.stringify(head)));
    entries[at] = { ...entry!, header: withFields(entry!.header, { name }) };
  }),
  'another type': otherFields((fuzzRandom) => ({
    type: fuzzRandom.one(types),
    linkName: fuzzRandom.one(['', '/etc/passwd', '../../secret']),
  })),
  'another size': otherFields((fuzzRandom) => ({ size: anySize(fuzzRandom) })),
  'the right size in base-256': otherFields((_, entry) => ({
    size: base256(BigInt(contentOf(entry).length)),
  })),
  'a PAX header': inserted((fuzzRandom) => ({ type: fuzzRandom.one(['x', 'g']) }), paxData),
  'a PAX header that tells what is so': inserted(
    () => ({ type: 'x', name: 'PaxHeader' }),
    (_, next) => Buffer.from(truth(next)),
  ),
  'a PAX header that lies': inserted(
    () => ({ type: 'x' }),
    (fuzzRandom) => Buffer.from(lie(fuzzRandom)),
  ),
  'a PAX header said to be huge': inserted(
    (fuzzRandom) => ({
      type: fuzzRandom.one([...'xgLK']),
      size: fuzzRandom.one([400_000_000, 2 ** 33 - 1, 9_000_000]),
    }),
    (fuzzRandom) => fuzzRandom.bytes(600),
  ),
  'a long name as GNU tar writes it': inserted(
    (fuzzRandom) => ({ type: fuzzRandom.one([...'LK']), name: '././@LongLink' }),
    (fuzzRandom) => Buffer.alloc(fuzzRandom.one(paxSizes), 'x'),
  ),
  'a sparse entry': onEntry((entry) => {
    const header = Buffer.from(entry.header);
    header.write('00000000000\x000000001000\0', 386, 'latin1');
    return [{ ...entry, header: withFields(header, { type: 'S' }) }];
  }),
  'something after the end': (sound, fuzzRandom) =>
    Buffer.concat([sound, fuzzRandom.bytes(fuzzRandom.whole(1, 5000))]),
  'zeros after the end': (sound, fuzzRandom) =>
    Buffer.concat([sound, Buffer.alloc(fuzzRandom.whole(1, 20_000))]),
  'no end mark': (sound) => sound.subarray(0, -1024),
  'half an end mark': (sound) => sound.subarray(0, -512),
  'two archives': (sound) => Buffer.concat([sound, sound]),
  gzip: (sound) => gzipSync(sound),
  'no tar': (_, fuzzRandom) => fuzzRandom.bytes(fuzzRandom.whole(0, 5000)),
  'another list of files': otherList('backup.json'),
  'other checksums': otherList('checksums.json'),
};
