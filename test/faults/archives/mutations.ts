import { gzipSync } from 'node:zlib';
import type { FuzzRandom } from '../fuzz/random.ts';
import {
  base256,
  contentOf,
  entryOf,
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
  ...[
    '../outside.json',
    '../../etc/passwd',
    '/etc/passwd',
    '/',
    '.',
    '..',
    '',
    ' ',
    'documents',
    'documents/',
    'documents/../../outside.json',
  ],
  ...[
    'lock.sock',
    'copy.json',
    'restore.unfinished',
    'admin-token',
    'C:\\windows.json',
    'documents\\x.json',
    'x'.repeat(100),
  ],
  ...[
    '__proto__',
    'constructor',
    'documents/\u0000.json',
    'documents/\u202e.json',
    'documents/\u001b[2J.json',
    'MANIFEST.JSON',
    'manifest.json.tmp',
  ],
];
const types = [
  '1',
  '2',
  '3',
  '4',
  '5',
  '6',
  '7',
  'g',
  'L',
  'K',
  'S',
  'D',
  'M',
  'V',
  'N',
  'A',
  'X',
  'x',
  '\0',
  '\u007f',
  '\u00ff',
];
const paxSizes = [0, 1, 511, 512, 513, 1000, 65_535, 65_536, 65_537, 100_000, 1_000_000];
const numbers = [-1, 0, 0.5, 1, 511, 1e6, 2 ** 31, 2 ** 53, 1e300, null, '1', true, [], {}];

/** Mutates the entries of the archive. */
const onEntries =
  (change: (entries: TarBlocks[], fuzzRandom: FuzzRandom) => void): Mutation =>
  (sound, fuzzRandom) => {
    const entries = takeApart(sound);
    change(entries, fuzzRandom);
    return putTogether(entries);
  };

/** Returns a random entry and its index. */
function pick(entries: readonly TarBlocks[], fuzzRandom: FuzzRandom): [TarBlocks, number] {
  const at = fuzzRandom.whole(0, entries.length - 1);
  return [entries[at] as TarBlocks, at];
}

function inserted(
  entries: TarBlocks[],
  fuzzRandom: FuzzRandom,
  header: { name?: string; type: string; size?: number | Uint8Array },
  body: Uint8Array,
): void {
  const [like, at] = pick(entries, fuzzRandom);
  entries.splice(at, 0, entryOf(like.header, header, body));
}

// biome-ignore lint/suspicious/noExplicitAny: what is in a list of files, or takes its place.
type Json = any;

/** Mutates the list of files or the checksums, as an otherwise valid entry. */
const onJson = (name: string, change: (value: Json, fuzzRandom: FuzzRandom) => unknown): Mutation =>
  onEntries((entries, fuzzRandom) => {
    const at = entries.findIndex((one) => nameOf(one) === name);
    const entry = entries[at] as TarBlocks;
    const value = JSON.parse(contentOf(entry).toString()) as Json;
    entries[at] = entryOf(
      entry.header,
      {},
      Buffer.from(JSON.stringify(change(value, fuzzRandom) ?? value)),
    );
  });

const paxData = (fuzzRandom: FuzzRandom, bytes: number) =>
  fuzzRandom.one<() => Uint8Array>([
    () => Buffer.alloc(bytes, '1\n'),
    () => Buffer.alloc(bytes, '9'),
    () => Buffer.alloc(bytes),
    () => fuzzRandom.bytes(Math.min(bytes, 2000)),
    () => Buffer.from(paxRecord('comment', 'x'.repeat(bytes))),
    () => Buffer.from(paxRecord('GNU.sparse.major', '1').repeat(Math.ceil(bytes / 22))),
  ])();

export const mutations: Record<string, Mutation> = {
  'bytes flipped': (sound, fuzzRandom) => {
    const bytes = Buffer.from(sound);
    for (let left = fuzzRandom.whole(1, 8); left > 0; left--) {
      const at = fuzzRandom.whole(0, bytes.length - 1);
      bytes[at] = (bytes[at] as number) ^ fuzzRandom.whole(1, 255);
    }
    return bytes;
  },
  'a header with other bytes and a right checksum': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    const header = Buffer.from(entry.header);
    for (let left = fuzzRandom.whole(1, 8); left > 0; left--)
      header[fuzzRandom.whole(0, 511)] = fuzzRandom.whole(0, 255);
    entries[at] = { ...entry, header: withFields(header, {}) };
  }),
  'cut short': (sound, fuzzRandom) => sound.subarray(0, fuzzRandom.whole(0, sound.length - 1)),
  'a piece left out': (sound, fuzzRandom) => {
    const at = fuzzRandom.whole(0, sound.length - 1);
    return Buffer.concat([
      sound.subarray(0, at),
      sound.subarray(at + fuzzRandom.one([1, 100, 512, 1024, 5000])),
    ]);
  },
  'a piece twice': (sound, fuzzRandom) => {
    const at = fuzzRandom.whole(0, sound.length - 1);
    return Buffer.concat([
      sound.subarray(0, at + fuzzRandom.one([1, 100, 512, 1024, 5000])),
      sound.subarray(at),
    ]);
  },
  'an entry twice': onEntries(
    (entries, fuzzRandom) =>
      void entries.splice(fuzzRandom.whole(0, entries.length), 0, pick(entries, fuzzRandom)[0]),
  ),
  'an entry left out': onEntries(
    (entries, fuzzRandom) => void entries.splice(pick(entries, fuzzRandom)[1], 1),
  ),
  'another order': onEntries((entries, fuzzRandom) => {
    const [[one, from], [other, to]] = [pick(entries, fuzzRandom), pick(entries, fuzzRandom)];
    entries[from] = other;
    entries[to] = one;
  }),
  'another name': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    entries[at] = {
      ...entry,
      header: withFields(entry.header, { name: fuzzRandom.one(badNames) }),
    };
  }),
  'another name in the list as well': (sound, fuzzRandom) => {
    const name = fuzzRandom.one(badNames);
    const at = fuzzRandom.whole(1, takeApart(sound).length - 2);
    const renamed = onEntries((entries) => {
      const entry = entries[at] as TarBlocks;
      entries[at] = { ...entry, header: withFields(entry.header, { name }) };
    });
    const listed = onJson('backup.json', ({ files }) => {
      files[at - 1].name = name;
    });
    return listed(Buffer.from(renamed(sound, fuzzRandom)), fuzzRandom);
  },
  'another type': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    entries[at] = {
      ...entry,
      header: withFields(entry.header, {
        type: fuzzRandom.one(types),
        linkName: fuzzRandom.one(['', '/etc/passwd', '../../secret']),
      }),
    };
  }),
  'another size': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    const size = fuzzRandom.one<number | Uint8Array>([
      ...[0, 1, 512, 5000, 2 ** 31, 2 ** 33 - 1, fuzzRandom.whole(0, 100_000)],
      ...[
        base256(0n),
        base256(BigInt(fuzzRandom.whole(0, 10_000))),
        base256(2n ** 40n),
        base256(2n ** 63n),
        base256(-1n, true),
        Buffer.alloc(12, 0xff),
      ],
      ...[
        Buffer.alloc(12),
        Buffer.from('            '),
        Buffer.from('-0000000001\0'),
        Buffer.from('99999999999\0'),
        fuzzRandom.bytes(12),
      ],
    ]);
    entries[at] = { ...entry, header: withFields(entry.header, { size }) };
  }),
  'the right size in base-256': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    entries[at] = {
      ...entry,
      header: withFields(entry.header, { size: base256(BigInt(contentOf(entry).length)) }),
    };
  }),
  'a PAX header': onEntries((entries, fuzzRandom) =>
    inserted(
      entries,
      fuzzRandom,
      { type: fuzzRandom.one(['x', 'g']) },
      paxData(fuzzRandom, fuzzRandom.one(paxSizes)),
    ),
  ),
  'a PAX header that tells what is so': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    const records = [
      paxRecord('size', String(contentOf(entry).length)),
      paxRecord('path', nameOf(entry)),
      paxRecord('mtime', '1.5'),
    ];
    entries.splice(
      at,
      0,
      entryOf(entry.header, { type: 'x', name: 'PaxHeader' }, Buffer.from(records.join(''))),
    );
  }),
  'a PAX header that lies': onEntries((entries, fuzzRandom) => {
    const records = [
      paxRecord('path', fuzzRandom.one(badNames)),
      paxRecord(
        'size',
        fuzzRandom.one([
          '0',
          '1',
          '-1',
          '1e3',
          '99999999999999999999',
          '',
          String(fuzzRandom.whole(0, 10_000)),
        ]),
      ),
      paxRecord('linkpath', '/etc/passwd'),
      paxRecord('GNU.sparse.realsize', '1'),
    ];
    inserted(entries, fuzzRandom, { type: 'x' }, Buffer.from(fuzzRandom.one(records)));
  }),
  'a PAX header said to be huge': onEntries((entries, fuzzRandom) =>
    inserted(
      entries,
      fuzzRandom,
      {
        type: fuzzRandom.one(['x', 'g', 'L', 'K']),
        size: fuzzRandom.one([400_000_000, 2 ** 33 - 1, 9_000_000]),
      },
      fuzzRandom.bytes(600),
    ),
  ),
  'a long name as GNU tar writes it': onEntries((entries, fuzzRandom) =>
    inserted(
      entries,
      fuzzRandom,
      { type: fuzzRandom.one(['L', 'K']), name: '././@LongLink' },
      Buffer.alloc(fuzzRandom.one(paxSizes), 'x'),
    ),
  ),
  'a sparse entry': onEntries((entries, fuzzRandom) => {
    const [entry, at] = pick(entries, fuzzRandom);
    const header = Buffer.from(entry.header);
    header.write('00000000000\x000000001000\0', 386, 'latin1');
    entries[at] = { ...entry, header: withFields(header, { type: 'S' }) };
  }),
  'something after the end': (sound, fuzzRandom) =>
    Buffer.concat([sound, fuzzRandom.bytes(fuzzRandom.whole(1, 5000))]),
  'zeros after the end': (sound, fuzzRandom) =>
    Buffer.concat([sound, Buffer.alloc(fuzzRandom.whole(1, 20_000))]),
  'no end mark': (sound) => sound.subarray(0, -1024),
  'half an end mark': (sound) => sound.subarray(0, -512),
  'two archives': (sound) => Buffer.concat([sound, sound]),
  gzip: (sound) => gzipSync(sound),
  'no tar': (_, fuzzRandom) =>
    fuzzRandom.one([
      () => fuzzRandom.bytes(fuzzRandom.whole(0, 5000)),
      () => Buffer.alloc(fuzzRandom.whole(0, 5000)),
      () => Buffer.from('{"a":1}'),
    ])(),
  'another list of files': onJson('backup.json', (head, fuzzRandom) => {
    const at = fuzzRandom.whole(0, head.files.length - 1);
    const change = fuzzRandom.one<() => unknown>([
      () => void head.files.push(head.files[at]),
      () => void head.files.splice(at, 1),
      () => void head.files.push({ name: fuzzRandom.one(badNames), size: 0 }),
      () => void head.files.push({ name: 'documents/more-1.json', size: fuzzRandom.one(numbers) }),
      () => void Object.assign(head.files[at], { size: fuzzRandom.one(numbers) }),
      () => void Object.assign(head.files[at], { name: fuzzRandom.one([...badNames, 1, null]) }),
      () =>
        void Object.assign(head, {
          files: fuzzRandom.one<unknown>([[], null, {}, 'x', [null], [[]]]),
        }),
      () => void Object.assign(head, { format: fuzzRandom.one([0, 2, '1', null]) }),
      () =>
        void Object.assign(head, { at: fuzzRandom.one(['', 'now', 0, '9999-99-99T00:00:00Z']) }),
      () => void Object.assign(head, { kind: 'something' }),
      () => fuzzRandom.one<unknown>([null, [], 'x', 1, true]),
    ]);
    return change();
  }),
  'other checksums': onJson('checksums.json', (tail, fuzzRandom) => {
    const name = fuzzRandom.one(Object.keys(tail.crc32));
    const change = fuzzRandom.one<() => unknown>([
      () => delete tail.crc32[name],
      () =>
        void Object.assign(tail.crc32, { [name]: fuzzRandom.one(['00000000', '', 'x', 0, null]) }),
      () => void Object.assign(tail.crc32, { unknown: '00000000' }),
      () => void Object.assign(tail, { crc32: fuzzRandom.one<unknown>([[], null, {}, 'x']) }),
      () => ({ crc32: JSON.parse('{"__proto__":"00000000"}') }),
    ]);
    const changed = change();
    return changed === true ? tail : changed;
  }),
  'a list that is no JSON': onEntries((entries, fuzzRandom) => {
    const at = fuzzRandom.one([0, entries.length - 1]);
    const text = fuzzRandom.one([
      () => '{',
      () => '['.repeat(100_000),
      () => 'nul',
      () => fuzzRandom.bytes(300),
      () => `{"${'x'.repeat(50_000)}":1}`,
    ])();
    entries[at] = entryOf((entries[at] as TarBlocks).header, {}, Buffer.from(text));
  }),
};
