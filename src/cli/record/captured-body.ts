import { createHmac, type Hmac } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { SignageError } from '../../domain/error.ts';
import { invalidJson, type ParsedJson, parseJson } from '../../domain/json/parse-json.ts';

/**
 * Maximum size of a body that is recorded as JSON: 1 MiB, as for requests (docs/protocol.md §1.7).
 */
const maxBodyBytes = 1024 * 1024;

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gunzipSync(bytes, { maxOutputLength: maxBodyBytes }),
  deflate: (bytes) => inflateSync(bytes, { maxOutputLength: maxBodyBytes }),
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxBodyBytes }),
};

/**
 * The body of a message that the recorder forwards. Holds at most 1 MiB. Its hash is an HMAC,
 * because a plain hash of a short body would reveal a pairing code in it.
 */
export class CapturedBody {
  readonly #hmac: Hmac;
  #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #announced: number;
  #hash: string | undefined;

  /** `announced` is the `Content-Length`. It counts as the length if fewer bytes arrive. */
  constructor(hashKey: Uint8Array, announced = 0) {
    this.#announced = announced;
    this.#hmac = createHmac('sha256', hashKey);
  }

  /** Adds a chunk. Ignores chunks that arrive after `hash` was read. */
  add(chunk: Buffer): void {
    if (this.#hash !== undefined) return;
    this.#bytes += chunk.length;
    this.#hmac.update(chunk);
    if (this.isTooLarge) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  get bytes(): number {
    return Math.max(this.#bytes, this.#announced);
  }

  get isTooLarge(): boolean {
    return this.bytes > maxBodyBytes;
  }

  /** HMAC-SHA-256 of the chunks before the first read, in hex. */
  get hash(): string {
    this.#hash ??= this.#hmac.digest('hex');
    return this.#hash;
  }

  /**
   * Decompresses and parses the body. Throws `invalid_json` if that fails, or if it is too large.
   */
  parse(contentEncoding = 'identity'): ParsedJson {
    if (this.isTooLarge) throw invalidJson('it is too large');
    const decode = decoders[contentEncoding.trim().toLowerCase()];
    if (!decode) throw invalidJson('its coding is unknown');
    try {
      return parseJson(decode(Buffer.concat(this.#chunks)));
    } catch (error) {
      if (error instanceof SignageError) throw error;
      throw invalidJson('it cannot be decompressed, or becomes too large', error);
    }
  }
}
