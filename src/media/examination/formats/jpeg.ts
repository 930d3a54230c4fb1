import { largest } from '../../../domain/numbers/extremes.ts';
import { countUnits, type HuffmanTable, huffmanTable, type Scan } from './jpeg-scan.ts';
import type { Picture } from './picture.ts';
import { quickBytes, type WholeFile } from './whole-file.ts';

/** Photos have some dozens of segments: profiles and previews take one for each 64 KiB. */
const maxSegments = 4096;
/** So many zeros at the end of an endless file are a hole, such as after a broken download. */
const holeBytes = 64;

interface Component {
  id: number;
  across: number;
  down: number;
  /** By coefficient: the lowest bits that came, or more than 13. */
  bits: Uint8Array;
}

interface Frame {
  width: number;
  height: number;
  isProgressive: boolean;
  components: Component[];
}

function frameOf(marker: number, body: Buffer): Frame | undefined {
  const count = body[5] ?? 0;
  if (body.length < 6 + count * 3) return undefined;
  return {
    height: body.readUInt16BE(1),
    width: body.readUInt16BE(3),
    isProgressive: marker === 0xc2,
    components: Array.from({ length: count }, (_, at) => {
      const [id = 0, sampling = 0] = body.subarray(6 + at * 3);
      return { id, across: sampling >> 4, down: sampling & 15, bits: new Uint8Array(64).fill(99) };
    }),
  };
}

/** Returns the orientation in an Exif segment (CIPA DC-008), from 1 to 8. */
function orientationOf(body: Buffer): number {
  if (body.toString('latin1', 0, 6) !== 'Exif\0\0') return 1;
  const tiff = body.subarray(6);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const word = (at: number) => {
    if (at + 2 > tiff.length) return 0;
    return isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  };
  if (tiff.length < 8) return 1;
  const first = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < word(first); entry++) {
    const at = first + 2 + entry * 12;
    if (at + 12 > tiff.length) return 1;
    if (word(at) === 0x112) return word(at + 8);
  }
  return 1;
}

/** Reads the markers of a JPEG file (ITU T.81, annex B), and counts what its scans hold. */
class JpegReader {
  readonly #file: WholeFile;
  readonly #tables = new Map<number, HuffmanTable>();
  #interval = 0;
  #frame: Frame | undefined;
  #orientation = 1;
  /** Whether a scan of a picture that is not progressive ends early. */
  #isShort = false;
  #hasScan = false;

  constructor(file: WholeFile) {
    this.#file = file;
  }

  async read(): Promise<Picture> {
    const { bytes } = this.#file;
    let at = 2;
    let hasEnd = false;
    for (let count = 0; await this.#file.has(at + 4); count++) {
      if (count > maxSegments) return { isCostly: true };
      if (bytes[at] !== 0xff || bytes[at + 1] === 0xff) {
        at++;
        continue;
      }
      const marker = bytes[at + 1] as number;
      if (marker === 0xd9) break;
      at += 2;
      if (marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd8)) continue;
      const end = at + bytes.readUInt16BE(at);
      if (!(await this.#file.has(end))) break;
      const body = bytes.subarray(at + 2, end);
      at = end;
      if (marker === 0xda) at = await this.#passScan(body, end);
      else this.#segment(marker, body);
    }
    hasEnd = this.#file.size >= at + 2 && bytes[at] === 0xff && bytes[at + 1] === 0xd9;
    return this.#picture(hasEnd);
  }

  #segment(marker: number, body: Buffer): void {
    // Thumbnails lie in segments. The frame of the picture itself is the first outside.
    if (marker >= 0xc0 && marker <= 0xc2) this.#frame ??= frameOf(marker, body);
    else if (marker === 0xc4) this.#readTables(body);
    else if (marker === 0xdd && body.length >= 2) this.#interval = body.readUInt16BE(0);
    else if (marker === 0xe1 && this.#orientation === 1) this.#orientation = orientationOf(body);
  }

  #readTables(body: Buffer): void {
    for (let at = 0; at + 17 <= body.length; ) {
      const counts = body.subarray(at + 1, at + 17);
      const total = counts.reduce((sum, one) => sum + one, 0);
      const symbols = body.subarray(at + 17, at + 17 + total);
      this.#tables.set(body[at] as number, huffmanTable(counts, symbols));
      at += 17 + total;
    }
  }

  /** Returns the place of the marker behind a scan, or the end of the file. */
  async #endOfScan(start: number): Promise<number> {
    await this.#file.readAll();
    const { bytes } = this.#file;
    for (let at = bytes.indexOf(0xff, start); at >= 0; at = bytes.indexOf(0xff, at)) {
      const next = bytes[at + 1];
      if (next === undefined) return at;
      if (next === 0xff) at += 1;
      else if (next === 0 || (next >= 0xd0 && next <= 0xd7)) at += 2;
      else return at;
    }
    return bytes.length;
  }

  async #passScan(header: Buffer, start: number): Promise<number> {
    const end = await this.#endOfScan(start);
    const { bytes, isLonger } = this.#file;
    const frame = this.#frame;
    const count = header[0] ?? 0;
    if (!frame || header.length < 4 + count * 2 || (isLonger && end === bytes.length)) return end;
    this.#hasScan = true;
    const [from = 0, to = 63, approximation = 0] = header.subarray(1 + count * 2);
    const chosen = Array.from({ length: count }, (_, at) => {
      const [id, tables = 0] = header.subarray(1 + at * 2);
      const component = frame.components.find((one) => one.id === id);
      return component ? [{ component, tables }] : [];
    }).flat();
    // Without a marker behind it, the scan may be cut.
    let last = end;
    const isOpen = end >= bytes.length - 1;
    if (isOpen) {
      while (last > start && bytes[last - 1] === 0) last--;
      if (end - last < holeBytes) last = end;
    }
    const isFirst = approximation >> 4 === 0;
    const isWhole = () => {
      const scan = this.#scanOf(frame, chosen, { from, to });
      return scan === undefined || countUnits(bytes, start, last, scan) >= scan.units;
    };
    if (!frame.isProgressive) this.#isShort ||= (isOpen || end - start <= quickBytes) && !isWhole();
    else if (!isOpen || (isFirst && isWhole()))
      for (const { component } of chosen)
        component.bits.fill(approximation & 15, from, Math.min(63, to) + 1);
    return end;
  }

  #scanOf(
    { width, height, components, isProgressive }: Frame,
    chosen: readonly { component: Component; tables: number }[],
    { from, to }: Pick<Scan, 'from' | 'to'>,
  ): Scan | undefined {
    const across = largest(components.map((one) => one.across));
    const down = largest(components.map((one) => one.down));
    const [first] = chosen;
    if (!first || across === 0 || down === 0) return undefined;
    // A scan of one component has the blocks of the picture only (T.81, A.2.2).
    const isSingle = chosen.length === 1;
    const unitsAlong = (length: number, most: number, own: number) =>
      isSingle ? Math.ceil(Math.ceil((length * own) / most) / 8) : Math.ceil(length / (8 * most));
    return {
      components: chosen.map(({ component, tables }) => ({
        blocks: isSingle ? 1 : component.across * component.down,
        dc: this.#tables.get(tables >> 4),
        ac: this.#tables.get(0x10 | (tables & 15)),
      })),
      units:
        unitsAlong(width, across, first.component.across) *
        unitsAlong(height, down, first.component.down),
      interval: this.#interval,
      from,
      to: isProgressive ? to : 63,
    };
  }

  #picture(hasEnd: boolean): Picture {
    const frame = this.#frame;
    if (!frame || !this.#hasScan)
      return { ...(frame && sizeOf(frame)), cut: this.#file.isLonger ? undefined : 'picture' };
    const lacksDetail = frame.components.some(({ bits }) => bits.some((one) => one > 1));
    const isCut = frame.isProgressive ? !hasEnd && lacksDetail : this.#isShort;
    return {
      ...sizeOf(frame),
      cut: isCut ? 'picture' : hasEnd || this.#file.isLonger ? undefined : 'end',
      orientation: this.#orientation,
      isCmyk: frame.components.length === 4,
    };
  }
}

const sizeOf = ({ width, height }: Frame) => ({ width, height });

export const readJpeg = (file: WholeFile): Promise<Picture> => new JpegReader(file).read();
