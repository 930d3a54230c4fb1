import type { Picture } from './picture.ts';
import { quickBytes, type WholeFile } from './whole-file.ts';

/** Frames and extensions. An animation of ten minutes has as many. */
const maxBlocks = 20_000;
const maxCodes = 4096;
const trailer = 0x3b;

/** The codes of one frame after another (GIF89a, appendix F). */
class Codes {
  /** By code: for how many pixels it stands. */
  readonly #pixels = new Uint32Array(maxCodes);
  #clear = 0;
  #width = 0;
  #next = 0;
  #before = 0;
  #bits = 0;
  #count = 0;
  #hasEnd = false;
  /** Pixels of the frame so far. */
  pixels = 0;

  start(rootBits: number): void {
    this.#clear = 1 << rootBits;
    this.#pixels.fill(1, 0, this.#clear);
    this.#bits = 0;
    this.#count = 0;
    this.#hasEnd = false;
    this.pixels = 0;
    this.#code(this.#clear);
  }

  pass(bytes: Buffer): void {
    for (const byte of bytes) {
      this.#bits |= byte << this.#count;
      this.#count += 8;
      while (this.#count >= this.#width && !this.#hasEnd) {
        const code = this.#bits & ((1 << this.#width) - 1);
        this.#bits >>>= this.#width;
        this.#count -= this.#width;
        this.#code(code);
      }
    }
  }

  #code(code: number): void {
    if (code === this.#clear) {
      this.#width = 32 - Math.clz32(this.#clear);
      this.#next = this.#clear + 2;
      this.#before = 0;
    } else if (code === this.#clear + 1 || code > this.#next) {
      this.#hasEnd = true;
    } else {
      if (this.#before > 0 && this.#next < maxCodes) this.#pixels[this.#next++] = this.#before + 1;
      this.#before = this.#pixels[code] as number;
      this.pixels += this.#before;
      if (this.#next === 1 << this.#width && this.#width < 12) this.#width++;
    }
  }
}

/** Reads the blocks of a GIF file, and counts the pixels of its frames. */
export async function readGif(file: WholeFile): Promise<Picture> {
  const { bytes } = file;
  if (!(await file.has(13))) return { cut: 'picture' };
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  const tableBytes = (flags: number) => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
  let at = 13 + tableBytes(bytes[10] as number);
  let frames = 0;
  const codes = new Codes();
  const isCounted = file.size <= quickBytes || (await file.last(1))[0] !== trailer;
  const found = (cut: Picture['cut']): Picture => ({
    ...size,
    isAnimated: frames > 1,
    cut: file.isLonger ? undefined : cut,
  });

  /** Passes over sub-blocks. Returns whether all are there. */
  async function passData(to?: Codes): Promise<boolean> {
    while (await file.has(at + 1)) {
      const length = bytes[at] as number;
      at += 1 + length;
      if (length === 0) return true;
      await file.has(at);
      if (isCounted) to?.pass(bytes.subarray(at - length, at));
    }
    return false;
  }

  for (let count = 0; await file.has(at + 1); count++) {
    if (count > maxBlocks) return { isCostly: true };
    const kind = bytes[at];
    if (kind === 0x21) {
      at += 2;
      await passData();
    } else if (kind === 0x2c && (await file.has(at + 10))) {
      frames++;
      const pixels = bytes.readUInt16LE(at + 5) * bytes.readUInt16LE(at + 7);
      at += 10 + tableBytes(bytes[at + 9] as number);
      if (!(await file.has(at + 1))) return found('picture');
      codes.start(Math.min(8, bytes[at++] as number));
      await passData(codes);
      if (isCounted ? codes.pixels < pixels : at > bytes.length) return found('picture');
    } else break;
  }
  if (frames === 0) return found('picture');
  const hasTrailer = at < bytes.length && bytes[at] === trailer;
  return found(hasTrailer ? undefined : bytes[at] === 0x2c ? 'picture' : 'end');
}
