import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { SignageError } from '../../../domain/error.ts';
import { invalidJson, type ParsedJson, parseJson } from '../../../domain/json/parse-json.ts';
import { type OperationId, operations } from '../../../wire/operations/operations.ts';
import type { Outcome } from './recording.ts';

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

export interface CapturedMessage {
  headers: IncomingHttpHeaders;
  body: CapturedBody;
}

/** One request and its answer as they passed the recorder, including secrets. */
export interface CapturedExchange {
  /** Arrival of the request, in Unix epoch milliseconds. */
  startedMs: number;
  tookMs: number;
  method: string;
  /** Path and query as sent. */
  path: string;
  request: CapturedMessage;
  /** Status of the answer. `undefined`: the TV got no answer. */
  status: number | undefined;
  answer: CapturedMessage;
  outcome: Outcome;
}

const parameter = /:\w+/g;
const parameterCount = ({ path }: { path: string }) => path.match(parameter)?.length ?? 0;

/**
 * All operations, with regular expressions for their paths. Paths with fewer parameters come first.
 */
const routes = (Object.keys(operations) as OperationId[])
  .sort((one, other) => parameterCount(operations[one]) - parameterCount(operations[other]))
  .map((id) => {
    const { method, path } = operations[id];
    return { id, method, path, form: new RegExp(`^${path.replaceAll(parameter, '[^/]+')}$`) };
  });

/**
 * The operation of a request, and the methods that its path allows. For an unknown path,
 * `operationId` is `undefined` and `methods` is empty.
 */
export interface Route {
  operationId: OperationId | undefined;
  methods: readonly string[];
  /** The path of the operations, such as `/devices/:id/playlist`. */
  template: string | undefined;
}

/** Finds the operation of a request. `HEAD` counts as `GET` (docs/protocol.md §1.1). */
export function routeOf({ method, path }: Pick<CapturedExchange, 'method' | 'path'>): Route {
  const [withoutQuery = ''] = path.split('?');
  const found = routes.filter(({ form }) => form.test(withoutQuery));
  const wanted = method === 'HEAD' ? 'GET' : method;
  const own = found.find((route) => route.method === wanted);
  return {
    operationId: own?.id,
    methods: found.map((route) => route.method),
    template: (own ?? found[0])?.path,
  };
}
