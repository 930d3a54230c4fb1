const blockBytes = 512;
/**
 * Maximum size of a PAX header in bytes. It is small, because a header needs only a size and a
 * path.
 */
const maxPaxBytes = 64 * 1024;
/** Maximum number of characters of a PAX record's length, including the space after it. */
const maxLengthDigits = 6;
const shownCharacters = 100;

/** A problem in a tar file. The message is the second half of a sentence. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

export interface TarEntry {
  name: string;
  size: number;
}

/** Formats a name from a tar file for messages: quoted and truncated. */
export function shownName(name: string): string {
  return JSON.stringify(
    name.length > shownCharacters ? `${name.slice(0, shownCharacters)}…` : name,
  );
}

/**
 * Reads a tar of plain files. Each entry has a ustar header, which one PAX header may precede. Any
 * other kind of entry is an error. Memory use is one chunk of the source and one header. The reader
 * stops at the end mark.
 *
 * modern-tar packs our backups, but does not read them. It accepts PAX headers of up to 8 MiB, and
 * parses them in quadratic time (30 s for 200 KB).
 *
 * Throws `TarError`.
 *
 * @example
 * for (let entry = await tar.next(); entry; entry = await tar.next()) {
 *   for await (const chunk of tar.body()) use(entry.name, chunk);
 * }
 */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;
  #entry: TarEntry | undefined;
  #leftBytes = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * Returns the next entry, or `undefined` at the end mark. Read the previous entry's body first.
   */
  async next(): Promise<TarEntry | undefined> {
    if (this.#entry) await this.#read(-this.#entry.size & (blockBytes - 1));
    this.#entry = undefined;
    const first = await this.#header();
    if (first === undefined) return undefined;
    this.#entry = first.type === 'x' ? await this.#extended(first) : plain(first);
    this.#leftBytes = this.#entry.size;
    return this.#entry;
  }

  /** Yields the contents of the entry in chunks. */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#leftBytes > 0) {
      const chunk = await this.#readSome(this.#leftBytes);
      this.#leftBytes -= chunk.length;
      yield chunk;
    }
  }

  async #header(): Promise<Header | undefined> {
    const block = await this.#read(blockBytes);
    if (!isZero(block)) return parseHeader(block, this.#position - blockBytes);
    if (!isZero(await this.#read(blockBytes)))
      throw new TarError(`a block of zeros stands at byte ${this.#position - 2 * blockBytes}`);
    return undefined;
  }

  async #extended({ name, size }: Header): Promise<TarEntry> {
    if (size > maxPaxBytes)
      throw new TarError(
        `${shownName(name)} is a header of ${size} bytes, and the limit is ${maxPaxBytes}`,
      );
    const records = parsePax(await this.#read(size));
    await this.#read(-size & (blockBytes - 1));
    const header = await this.#header();
    if (header === undefined) throw new TarError('it ends after a header');
    const entry = plain(header);
    const sizeText = records.get('size') ?? String(entry.size);
    if (!/^\d{1,16}$/.test(sizeText) || !Number.isSafeInteger(Number(sizeText)))
      throw new TarError(`${shownName(entry.name)} has no valid size`);
    return { name: records.get('path') ?? entry.name, size: Number(sizeText) };
  }

  /** Reads exactly `count` bytes into memory. `count` must be small. */
  async #read(count: number): Promise<Buffer> {
    const into = Buffer.alloc(count);
    for (let done = 0; done < count; ) {
      const chunk = await this.#readSome(count - done);
      into.set(chunk, done);
      done += chunk.length;
    }
    return into;
  }

  /** Reads at least one byte, and at most `maxBytes`. */
  async #readSome(maxBytes: number): Promise<Uint8Array> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#source.next().catch((cause: Error) => {
        throw new TarError(`it cannot be read: ${cause.message}`, { cause });
      });
      if (done) {
        const what =
          this.#position < blockBytes ? 'it is too short for a tar file' : 'it is cut short';
        throw new TarError(`${what}: it ends at byte ${this.#position}${this.#inEntry()}`);
      }
      this.#chunk = value;
    }
    const part = this.#chunk.subarray(0, maxBytes);
    this.#chunk = this.#chunk.subarray(part.length);
    this.#position += part.length;
    return part;
  }

  #inEntry(): string {
    return this.#entry ? `, in ${shownName(this.#entry.name)}` : '';
  }
}

interface Header {
  name: string;
  size: number;
  type: string;
}

function plain({ name, size, type }: Header): TarEntry {
  if (type !== '0' && type !== '\0')
    throw new TarError(
      `${shownName(name)} is not a plain file (its type is ${JSON.stringify(type)})`,
    );
  return { name, size };
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/**
 * POSIX.1-1988: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
 */
function parseHeader(block: Buffer, at: number): Header {
  const sum = block.reduce(
    (total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte),
    0,
  );
  if (parseOctal(block.subarray(148, 156)) !== sum)
    throw new TarError(
      at === 0 ? 'it is not a tar file' : `no header of a tar file stands at byte ${at}`,
    );
  const prefix =
    textOf(block.subarray(257, 263)) === 'ustar' && block[262] === 0
      ? textOf(block.subarray(345, 500))
      : '';
  const name = `${prefix === '' ? '' : `${prefix}/`}${textOf(block.subarray(0, 100))}`;
  const size = parseSize(block.subarray(124, 136));
  if (size === undefined) throw new TarError(`${shownName(name)} has no valid size`);
  return { name, size, type: block.toString('latin1', 156, 157) };
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

function parseOctal(field: Buffer): number | undefined {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(field.toString('latin1'))?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}

/** Parses an octal number, or a base-256 number, which GNU tar writes for larger sizes. */
function parseSize(field: Buffer): number | undefined {
  if (field[0] !== 0x80) return parseOctal(field);
  const size = field.subarray(1).reduce((value, byte) => value * 256 + byte, 0);
  return Number.isSafeInteger(size) ? size : undefined;
}

/** Parses records of the form `length key=value\n`. */
function parsePax(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const length = /^([1-9]\d*) /.exec(bytes.toString('latin1', at, at + maxLengthDigits))?.[1];
    const end = at + Number(length);
    // Also rejects NaN.
    if (!(end <= bytes.length) || bytes[end - 1] !== 0x0a)
      throw new TarError('it has a damaged PAX header');
    const record = bytes.toString('utf8', at + String(length).length + 1, end - 1);
    const equals = record.indexOf('=');
    if (equals < 1) throw new TarError('it has a damaged PAX header');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return records;
}
