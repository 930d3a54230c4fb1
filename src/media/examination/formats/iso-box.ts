import type { ByteSource } from './byte-source.ts';

/** A box of an ISO media file, such as MP4 or AVIF (ISO/IEC 14496-12). */
export interface Box {
  type: string;
  /** Place of its content in the file, and of its end. */
  from: number;
  to: number;
}

const headerBytes = 16;
/** Whole videos have a few boxes. Of one with more fragments, only the first are read. */
const maxBoxes = 500;
const pageBytes = 1024;

/** Returns a source that reads a page for a small part, and keeps the last one. */
export function paged({ size, read }: ByteSource): ByteSource {
  let page: { start: number; bytes: Uint8Array } = { start: 0, bytes: Buffer.alloc(0) };
  return {
    size,
    async read(start, end) {
      // Another read may replace the page meanwhile.
      let found = page;
      if (start < found.start || end > found.start + found.bytes.length) {
        const to = Math.min(size, Math.max(end, start + pageBytes));
        found = { start, bytes: await read(start, to) };
        page = found;
      }
      return found.bytes.subarray(start - found.start, end - found.start);
    },
  };
}

/** Yields the boxes between two places. The last one may end behind `end`. */
export async function* boxesIn(
  { size, read }: ByteSource,
  { from, to }: Pick<Box, 'from' | 'to'>,
): AsyncGenerator<Box> {
  let at = from;
  const end = Math.min(to, size);
  for (let count = 0; count < maxBoxes && at + 8 <= end; count++) {
    const header = Buffer.from(await read(at, Math.min(size, at + headerBytes)));
    const type = header.toString('latin1', 4, 8);
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return;
    const small = header.readUInt32BE(0);
    if (small === 1 && header.length < headerBytes) return;
    const large = small === 1 ? Number(header.readBigUInt64BE(8)) : small;
    const length = small === 0 ? end - at : large;
    const content = at + (small === 1 ? headerBytes : 8);
    if (at + length < content) return;
    yield { type, from: content, to: at + length };
    at += length;
  }
}

/** Returns the first box at a path. */
export async function findBox(
  source: ByteSource,
  { from, to }: Pick<Box, 'from' | 'to'>,
  [type, ...rest]: readonly string[],
): Promise<Box | undefined> {
  for await (const box of boxesIn(source, { from, to }))
    if (box.type === type) return rest.length === 0 ? box : findBox(source, box, rest);
  return undefined;
}

/** The order of the outermost boxes. */
export interface Layout {
  /** The index of a video, if it can be read, and whether it comes behind the media data. */
  moov: Box | undefined;
  isBehind: boolean;
  /** Whether there are media data outside of other boxes. */
  hasData: boolean;
  /** The box that ends behind the file. */
  open: Box | undefined;
  /** Whether there are more boxes than were read. */
  isLonger: boolean;
}

export async function readLayout(source: ByteSource): Promise<Layout> {
  const layout: Layout = {
    moov: undefined,
    isBehind: false,
    hasData: false,
    open: undefined,
    isLonger: false,
  };
  let count = 0;
  try {
    for await (const box of boxesIn(source, { from: 0, to: source.size })) {
      if (box.to > source.size) layout.open = box;
      if (box.type === 'mdat') layout.hasData = true;
      if (box.type === 'moov' && !layout.moov && box.to <= source.size) {
        layout.moov = box;
        layout.isBehind = layout.hasData;
      }
      layout.isLonger = ++count === maxBoxes && box.to < source.size;
    }
  } catch (error) {
    // What cannot be read lies behind the media data: so does the index.
    if (!layout.hasData || layout.moov) throw error;
    layout.isBehind = true;
  }
  return layout;
}

/** Boxes without which a part of the picture is missing. */
const needed = ['mdat', 'moov', 'moof', 'meta', 'ftyp'];

/** Returns whether the part that a file lacks is of its picture. */
export const lacksPicture = ({ open }: Layout): boolean =>
  open !== undefined && needed.includes(open.type);

const containers = ['moov', 'trak', 'mdia', 'minf', 'stbl'];
/**
 * Boxes with a row for each frame (ISO 14496-12 §8.6, §8.7), and the box that announces fragments,
 * which have such rows (§8.8.1). Neither length nor codec follows from them. They may have millions
 * of rows, or say so.
 */
const tables = ['stts', 'ctts', 'stsz', 'stz2', 'stss', 'stsc', 'stco', 'co64', 'mvex'];
/** Most of what is copied of an index. Pictures and names in it may be larger. */
const maxIndexBytes = 256 * 1024;

const boxOf = (type: string, content: Uint8Array): Buffer => {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + content.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
};

/** Returns the index of a video as a file of its own, without large boxes and rows for frames. */
export async function shortIndex(source: ByteSource, moov: Box): Promise<ByteSource> {
  let left = maxIndexBytes;
  async function copy({ type, from, to }: Box, depth: number): Promise<Buffer> {
    if (!containers.includes(type) || depth > containers.length) {
      if (tables.includes(type) || to - from > left || to > source.size) return Buffer.alloc(0);
      left -= to - from + 8;
      return boxOf(type, await source.read(from, to));
    }
    const parts: Buffer[] = [];
    for await (const box of boxesIn(source, { from, to })) {
      left -= 8;
      if (left > 0) parts.push(await copy(box, depth + 1));
    }
    return boxOf(type, Buffer.concat(parts));
  }
  const ftyp = boxOf('ftyp', Buffer.from('isom\0\0\0\0isommp42', 'latin1'));
  const file = Buffer.concat([ftyp, await copy(moov, 1)]);
  return { size: file.length, read: async (start, end) => file.subarray(start, end) };
}
