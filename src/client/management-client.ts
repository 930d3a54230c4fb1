import type { OperationId } from '../wire/operations.ts';
import type { CallAnswer, CallArguments, CallInput, ListId, ListItem, PlainInput } from './call.ts';
import { authorization, Caller, type ClientOptions, type RawRequest } from './caller.ts';
import { makePageGuard } from './page-guard.ts';
import type { Reply } from './problem.ts';
import type { Exchange } from './transport.ts';

export interface ManagementOptions extends ClientOptions {
  /** The management token, `mak_…`. */
  token: string;
  /** The tenant to act in (`X-Tenant-Id`): needed with a platform token where there are several. */
  tenantId?: string | undefined;
}

/**
 * The management side of a signage service: every operation under `/v1`, by its name in the interface.
 * Errors are `SignageError`s with the service's codes, or `unreachable`, `unexpected_answer` and `interrupted`.
 *
 * @example
 * const management = new ManagementClient({ url: 'http://127.0.0.1:4100', token });
 * const venue = await management.call('createVenue', { body: { name: 'Berlin' } });
 * for await (const screen of management.all('listScreens', { query: { venueId: venue.id } })) use(screen);
 */
export class ManagementClient {
  readonly #caller: Caller;
  readonly #headers: Record<string, string>;

  constructor({ token, tenantId, ...options }: ManagementOptions) {
    this.#caller = new Caller(options);
    this.#headers = {
      ...authorization(token),
      ...(tenantId === undefined ? {} : { 'x-tenant-id': tenantId }),
    };
  }

  /** Calls one operation and answers its body. */
  async call<I extends OperationId>(id: I, ...[input]: CallArguments<I>): Promise<CallAnswer<I>> {
    const { answer } = await this.#caller.exchange(
      id,
      (input ?? {}) as CallInput<I>,
      this.#headers,
    );
    return answer;
  }

  /** A backup of the whole store, as a tar, as it comes; when it breaks off, reading throws `unreachable`. Takes a `platform` token. */
  backup(input: CallInput<'createBackup'> = {}): Promise<AsyncIterable<Buffer>> {
    return this.#caller.stream('createBackup', input, this.#headers);
  }

  /** Any request, for what is no operation: the path begins with `/` and includes the query; `body` is sent as JSON. Answers what came. */
  send(
    method: Exchange['method'],
    path: string,
    { headers, ...request }: RawRequest = {},
  ): Promise<Reply> {
    return this.#caller.send(method, path, {
      ...request,
      headers: { ...this.#headers, ...headers },
    });
  }

  /** The pages of a list, one request each, from `query.cursor` on if that is given. */
  async *pages<I extends ListId>(
    id: I,
    ...[input]: CallArguments<I>
  ): AsyncGenerator<ListItem<I>[]> {
    const plain: PlainInput = input ?? {};
    let cursor: string | undefined;
    const given = plain.query?.cursor;
    const checkPage = makePageGuard(id, typeof given === 'string' ? given : undefined);
    for (;;) {
      const query = cursor === undefined ? plain.query : { ...plain.query, cursor };
      const page = (await this.call(
        id,
        ...([{ ...plain, query }] as unknown as CallArguments<I>),
      )) as CallAnswer<ListId>;
      yield page.items as ListItem<I>[];
      cursor = page.nextCursor ?? undefined;
      if (cursor === undefined) return;
      checkPage(page);
    }
  }

  /** All items of a list, page after page. */
  async *all<I extends ListId>(id: I, ...input: CallArguments<I>): AsyncGenerator<ListItem<I>> {
    for await (const page of this.pages(id, ...input)) yield* page;
  }
}
