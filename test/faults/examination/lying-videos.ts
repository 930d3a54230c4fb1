// MP4 and WebM files whose boxes and elements lie about their sizes and counts.
import fc from 'fast-check';

const bytes = (text: string) => Buffer.from(text, 'latin1');

export function uint32(value: number): Buffer {
  const made = Buffer.alloc(4);
  made.writeUInt32BE(value >>> 0);
  return made;
}

/** A box of an MP4 file with its true size. */
export function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const inner = Buffer.concat(content);
  return Buffer.concat([uint32(inner.length + 8), bytes(type), inner]);
}

const zeros = (count: number) => Buffer.alloc(count);

/** A video track whose table of samples has these boxes. */
function track(tables: readonly Uint8Array[], timescale = 1000): Buffer {
  const tkhd = box('tkhd', zeros(12), uint32(1), zeros(68));
  const mdhd = box('mdhd', zeros(12), uint32(timescale), uint32(2500), zeros(4));
  const hdlr = box('hdlr', zeros(8), bytes('vide'), zeros(13));
  const avcC = box('avcC', Buffer.from([1, 0x64, 0, 0x0c, 0xff, 0xe0, 0]));
  const avc1 = box('avc1', zeros(24), Buffer.from([1, 64, 0, 240]), zeros(50), avcC);
  const stsd = box('stsd', zeros(4), uint32(1), avc1);
  const minf = box('minf', box('stbl', stsd, ...tables));
  return box('trak', tkhd, box('mdia', mdhd, hdlr, minf));
}

const ftyp = box('ftyp', bytes('isom\0\0\0\0isommp41'));
const mvhd = box('mvhd', zeros(12), uint32(1000), zeros(84));

/** An MP4 with one track that has these tables. */
export const mp4Of = (tables: readonly Uint8Array[]): Buffer =>
  Buffer.concat([ftyp, box('moov', mvhd, track(tables))]);

/** An MP4 with a fragment that claims a run of 4 billion frames. */
export function withEndlessRun(): Buffer {
  const trex = box('trex', zeros(4), uint32(1), uint32(1), uint32(1), uint32(1), zeros(4));
  const run = box('trun', zeros(4), uint32(0xffffffff));
  const traf = box('traf', box('tfhd', zeros(4), uint32(1)), box('tfdt', zeros(8)), run);
  const moof = box('moof', box('mfhd', zeros(8)), traf);
  return Buffer.concat([ftyp, box('moov', mvhd, track([]), box('mvex', trex)), moof]);
}

/** An MP4 with this many empty tracks. */
export const withTracks = (count: number): Buffer =>
  Buffer.concat([ftyp, box('moov', mvhd, Buffer.concat(Array(count).fill(box('trak'))))]);

const tableTypes = ['stts', 'ctts', 'stsz', 'stz2', 'stss', 'stsc', 'stco', 'co64', 'elst', 'sgpd'];

/** MP4 files with tables, nesting and sizes that are not true. */
export function mp4(figure: fc.Arbitrary<number>, times: fc.Arbitrary<number>) {
  const words = fc.array(figure, { maxLength: 12 });
  const table = fc
    .tuple(fc.constantFrom(...tableTypes), words, words, times)
    .map(([type, start, repeatedWords, count]) => {
      const unit = Buffer.concat(repeatedWords.map(uint32));
      const entries = Math.min(count, Math.floor(200_000 / Math.max(1, unit.length)));
      return box(type, zeros(4), ...start.map(uint32), Buffer.concat(Array(entries).fill(unit)));
    });
  const tables = fc.array(table, { maxLength: 6 });
  const lying = fc.tuple(tables, fc.nat(600), figure).map(([some, at, size]) => {
    const file = mp4Of(some);
    // Any word of the structure, such as a size or a count.
    file.writeUInt32BE(size >>> 0, Math.min(at & ~3, file.length - 4));
    return file;
  });
  const nested = fc
    .tuple(fc.constantFrom('moov', 'trak', 'mdia', 'udta', 'meta', 'ilst'), times)
    .map(([type, depth]) => {
      const count = Math.min(depth, 30_000);
      const boxes = Array.from({ length: count }, (_, at) =>
        Buffer.concat([uint32((count - at) * 8), bytes(type)]),
      );
      return Buffer.concat([ftyp, ...boxes]);
    });
  const tracks = fc.tuple(tables, times, figure).map(([some, count, timescale]) => {
    const one = track(some, timescale);
    const all = Array<Buffer>(Math.min(count, Math.ceil(500_000 / one.length))).fill(one);
    return Buffer.concat([ftyp, box('moov', mvhd, ...all)]);
  });
  return fc.oneof(tables.map(mp4Of), lying, nested, tracks);
}

/** An element of EBML. Its size takes 8 bytes, and need not be true. */
function element(id: number, content: Uint8Array, size = content.length): Buffer {
  const name = Buffer.from(id.toString(16), 'hex');
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(size) | (1n << 56n));
  return Buffer.concat([name, length, content]);
}

const header = element(0x1a45dfa3, element(0x4282, bytes('webm')));
const ids = [
  0x1549a966, 0x2ad7b1, 0x4489, 0x1654ae6b, 0xae, 0xd7, 0x83, 0x86, 0xe0, 0xb0, 0xba, 0x1c53bb6b,
  0xbb, 0xb3, 0xb7, 0xf1, 0xf7, 0x1f43b675, 0xe7, 0xa3, 0xa0, 0xa1, 0x114d9b74, 0x4dbb, 0x53ab,
  0x53ac, 0x1254c367, 0x63a2, 0x6d80, 0xec,
];

/** WebM files with elements, nesting and sizes that are not true. */
export function webm(figure: fc.Arbitrary<number>, times: fc.Arbitrary<number>) {
  const id = fc.constantFrom(...ids);
  const leaf = fc
    .tuple(id, fc.uint8Array({ maxLength: 9 }), fc.option(figure, { nil: undefined }))
    .map(([name, content, size]) => element(name, content, size));
  const { tree } = fc.letrec<{ tree: Buffer }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc
        .tuple(id, fc.array(tie('tree'), { maxLength: 4 }), fc.option(figure, { nil: undefined }))
        .map(([name, content, size]) => element(name, Buffer.concat(content), size)),
    ),
  }));
  const many = fc.tuple(tree, times).map(([one, count]) => {
    return Buffer.concat(Array(Math.min(count, Math.ceil(300_000 / one.length))).fill(one));
  });
  const deep = fc.tuple(id, times).map(([name, depth]) => {
    const start = element(name, zeros(0), 0xffffff);
    return Buffer.concat(Array(Math.min(depth, 30_000)).fill(start));
  });
  return fc
    .tuple(
      fc.array(fc.oneof(tree, many, deep), { maxLength: 4 }),
      fc.option(figure, { nil: undefined }),
    )
    .map(([content, size]) =>
      Buffer.concat([header, element(0x18538067, Buffer.concat(content), size)]),
    );
}
