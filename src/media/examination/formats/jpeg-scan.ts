/** Codes of up to so many bits are looked up at once. */
const quickBits = 9;
const quickMask = (1 << quickBits) - 1;

/** A Huffman table. */
export interface HuffmanTable {
  /** By the next bits: `bits of the code << 8 | symbol`. 0: there is no such short code. */
  quick: Uint16Array;
  /** By length: the first code that is longer, and the index of a symbol less its code. */
  limits: Int32Array;
  offsets: Int32Array;
  symbols: Uint8Array;
}

/** Makes a table of the 16 counts of codes by length, and their symbols (ITU T.81, annex C). */
export function huffmanTable(counts: Uint8Array, symbols: Uint8Array): HuffmanTable {
  const quick = new Uint16Array(1 << quickBits);
  const limits = new Int32Array(17);
  const offsets = new Int32Array(17);
  let code = 0;
  let at = 0;
  for (let length = 1; length <= 16; length++) {
    const count = counts[length - 1] as number;
    offsets[length] = at - code;
    for (let each = 0; each < count && length <= quickBits; each++) {
      const first = (code + each) << (quickBits - length);
      const entry = (length << 8) | (symbols[at + each] ?? 0);
      quick.fill(entry, first, first + (1 << (quickBits - length)));
    }
    code += count;
    at += count;
    limits[length] = code;
    code <<= 1;
  }
  return { quick, limits, offsets, symbols };
}

/** A scan that is the first with its coefficients, so that no bits refine those of another. */
export interface Scan {
  components: readonly {
    /** Blocks in a unit of the scan. */
    blocks: number;
    dc: HuffmanTable | undefined;
    ac: HuffmanTable | undefined;
  }[];
  /** Units (MCUs) of the scan. */
  units: number;
  /** Units between two restart markers. 0: there are none. */
  interval: number;
  /** First and last coefficient: 0 and 63, unless the picture is progressive. */
  from: number;
  to: number;
}

/** The bits of a scan. Behind its end, and from a marker on, they are zero. */
class Bits {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #bits = 0;
  #count = 0;
  /** Of the bits in `#bits`, those that the scan does not have. */
  #missing = 0;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Whether more bits were used than the scan has. */
  get isOver(): boolean {
    return this.#missing > this.#count;
  }

  #fill(): void {
    while (this.#count <= 24) {
      const byte = this.#at < this.#end ? (this.#bytes[this.#at] as number) : 0xff;
      const isMissing = byte === 0xff && (this.#at >= this.#end || this.#bytes[this.#at + 1] !== 0);
      if (isMissing) this.#missing += 8;
      else this.#at += byte === 0xff ? 2 : 1;
      this.#bits = (this.#bits << 8) | (isMissing ? 0 : byte);
      this.#count += 8;
    }
  }

  /** Returns the next symbol. -1: there is no such code. */
  symbol({ quick, limits, offsets, symbols }: HuffmanTable): number {
    if (this.#count < 16) this.#fill();
    const entry = quick[(this.#bits >>> (this.#count - quickBits)) & quickMask] as number;
    if (entry !== 0) {
      this.#count -= entry >> 8;
      return entry & 0xff;
    }
    for (let length = quickBits + 1; length <= 16; length++) {
      const code = (this.#bits >>> (this.#count - length)) & ((1 << length) - 1);
      if (code >= (limits[length] as number)) continue;
      this.#count -= length;
      return symbols[code + (offsets[length] as number)] ?? -1;
    }
    return -1;
  }

  /** Reads at most 15 bits. */
  read(bits: number): number {
    if (this.#count < bits) this.#fill();
    this.#count -= bits;
    return (this.#bits >>> this.#count) & ((1 << bits) - 1);
  }

  /** Goes on behind the next restart marker. Returns whether there is one. */
  restart(): boolean {
    this.#count = 0;
    this.#missing = 0;
    for (let at = this.#at; at >= 0 && at < this.#end; at++) {
      at = this.#bytes.indexOf(0xff, at);
      const marker = at < 0 ? undefined : this.#bytes[at + 1];
      if (marker === undefined) return false;
      if ((marker & 0xf8) !== 0xd0) continue;
      this.#at = at + 2;
      return true;
    }
    return false;
  }
}

/** Passes over one block. Returns for how many units it stands, or -1 for an unknown code. */
function passBlock(bits: Bits, { dc, ac }: Scan['components'][number], { from, to }: Scan): number {
  for (let at = from; at <= to; at++) {
    const table = at === 0 ? dc : ac;
    const symbol = table ? bits.symbol(table) : -1;
    if (symbol < 0) return -1;
    const size = symbol & 15;
    const run = at === 0 ? 0 : symbol >> 4;
    if (size !== 0) bits.read(size);
    // The band ends, in a progressive picture also that of the next blocks (T.81, G.1.2.2).
    else if (at > 0 && run < 15) return from > 0 ? (1 << run) + bits.read(run) : 1;
    at += run;
  }
  return 1;
}

/** Returns how many units of a scan lie between two places, without decoding them. */
export function countUnits(bytes: Buffer, start: number, end: number, scan: Scan): number {
  const { components, units, interval } = scan;
  const bits = new Bits(bytes, start, end);
  let counted = 0;
  for (let first = 0; first < units; first += interval || units) {
    if (first > 0 && !bits.restart()) break;
    const last = Math.min(units, first + (interval || units));
    let unit = first;
    while (unit < last) {
      let passed = 1;
      for (const component of components)
        for (let each = 0; each < component.blocks && passed > 0; each++)
          passed = passBlock(bits, component, scan);
      if (passed < 0 || bits.isOver) break;
      unit += passed;
    }
    counted += Math.min(unit, last) - first;
  }
  return counted;
}
