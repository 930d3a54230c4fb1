import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { SignageError } from '../../domain/error.ts';
import { invalidJson, type ParsedJson, parseJson } from '../../domain/json/parse-json.ts';

/**
 * Maximum size of a body that is checked: 1 MiB, as for requests (docs/protocol.md §1.7).
 */
const maxBodyBytes = 1024 * 1024;

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gunzipSync(bytes, { maxOutputLength: maxBodyBytes }),
  deflate: (bytes) => inflateSync(bytes, { maxOutputLength: maxBodyBytes }),
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxBodyBytes }),
};

/** The body of a message that the recorder forwards. Holds at most 1 MiB. */
export class CapturedBody {
  #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #announced: number;

  /** `announced` is the `Content-Length`. It counts as the length if fewer bytes arrive. */
  constructor(announced = 0) {
    this.#announced = announced;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.isTooLarge) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  get bytes(): number {
    return Math.max(this.#bytes, this.#announced);
  }

  get isTooLarge(): boolean {
    return this.bytes > maxBodyBytes;
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
