import type { OperationId } from '../wire/operations/operations.ts';
import {
  ApiClient,
  authorization,
  type Method,
  operationOf,
  type RawRequest,
} from './api-client.ts';
import type { CallAnswer, CallArguments, CallInput, ListId, ListItem, PlainInput } from './call.ts';
import { withNodePlatform } from './node-platform.ts';
import { type ClientOptions, checkClientOptions } from './options.ts';
import { followPages } from './pages.ts';
import type { Reply } from './problem.ts';

/** Options of a `ManagementClient`. */
export interface ManagementOptions extends ClientOptions {
  /**
   * The management token, `mak_…`. The constructor throws `invalid_option` if it is missing, or if
   * a header cannot carry it.
   */
  token: string;
  /**
   * The tenant to act in (`X-Tenant-Id`). Required for a platform token if there are several
   * tenants.
   */
  tenantId?: string | undefined;
}

async function* buffersOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of chunks)
    yield Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Client of the management API: every operation under `/v1`, by its operation id.
 *
 * Errors are `SignageError`s with the service's error codes, or `unreachable`, `unexpected_answer`
 * and `interrupted`.
 *
 * @example
 * const management = new ManagementClient({ url: 'http://127.0.0.1:4100', token });
 * const venue = await management.call('createVenue', { body: { name: 'Berlin' } });
 * const screens = management.all('listScreens', { query: { venueId: venue.id } });
 * for await (const screen of screens) use(screen);
 */
export class ManagementClient {
  readonly #api: ApiClient;
  readonly #headers: Record<string, string>;

  constructor(given: ManagementOptions) {
    checkClientOptions(given, ['token', 'tenantId']);
    const { token, tenantId, ...options } = given;
    this.#api = new ApiClient(withNodePlatform(options));
    this.#headers = {
      ...authorization(token),
      ...(tenantId === undefined ? {} : { 'x-tenant-id': tenantId }),
    };
  }

  /**
   * Calls one operation and returns its response body. If the operation takes an `Idempotency-Key`,
   * adds a random key, so that a retry after a lost response creates nothing twice
   * (docs/protocol.md §5.11).
   */
  async call<I extends OperationId>(id: I, ...[input]: CallArguments<I>): Promise<CallAnswer<I>> {
    return (await this.callWithEtag(id, ...([input] as CallArguments<I>))).answer;
  }

  /**
   * Like `call`, and also returns the ETag of the record. Send it as `If-Match` to change the
   * record only if nobody else has changed it since (docs/protocol.md §5.10).
   */
  async callWithEtag<I extends OperationId>(
    id: I,
    ...[input]: CallArguments<I>
  ): Promise<{ answer: CallAnswer<I>; etag: string | undefined }> {
    const takesKey = operationOf(id).headers?.includes('Idempotency-Key');
    const own = takesKey ? { idempotencyKey: this.#api.makeIdempotencyKey() } : {};
    const { answer, headers } = await this.#api.exchange(
      id,
      { ...own, ...input } as CallInput<I>,
      this.#headers,
    );
    return { answer, etag: headers.etag?.toString() };
  }

  /**
   * Streams a backup of the whole store as a dump. Requires a `backup` or `platform` token.
   * If the connection breaks off, reading the stream throws `unreachable`.
   */
  async backup(input: CallInput<'createBackup'> = {}): Promise<AsyncIterable<Buffer>> {
    return buffersOf(await this.#api.stream('createBackup', input, this.#headers));
  }

  /** Streams the single plays of a report as lines of JSON. */
  async plays(input: CallInput<'reportPlays'> = {}): Promise<AsyncIterable<Buffer>> {
    return buffersOf(await this.#api.stream('reportPlays', input, this.#headers));
  }

  /**
   * Sends a request that is not an operation. `path` begins with `/` and includes the query; bytes
   * in `body` are sent as they are, other values as JSON. Returns the raw response.
   */
  send(method: Method, path: string, { headers, ...request }: RawRequest = {}): Promise<Reply> {
    return this.#api.send(method, path, {
      ...request,
      headers: { ...this.#headers, ...headers },
    });
  }

  /**
   * Yields the pages of a list, one request per page. Starts at `query.cursor`, if given. Throws
   * `unexpected_answer` if the list does not seem to end.
   */
  pages<I extends ListId>(id: I, ...[input]: CallArguments<I>): AsyncGenerator<ListItem<I>[]> {
    const plain: PlainInput = input ?? {};
    const { query } = plain;
    const read = async (cursor: string | undefined) => {
      // A cursor replaces `after`, which only sets the start of a list.
      const ofPage = cursor === undefined ? query : { ...query, after: undefined, cursor };
      const inputs = [{ ...plain, query: ofPage }] as unknown as CallArguments<I>;
      const page = (await this.call(id, ...inputs)) as CallAnswer<ListId>;
      return { items: page.items as ListItem<I>[], nextCursor: page.nextCursor };
    };
    return followPages(id, read, typeof query?.cursor === 'string' ? query.cursor : undefined);
  }

  /** Yields all items of a list, across pages. */
  async *all<I extends ListId>(id: I, ...input: CallArguments<I>): AsyncGenerator<ListItem<I>> {
    for await (const page of this.pages(id, ...input)) yield* page;
  }
}
