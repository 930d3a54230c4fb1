import { SignageError } from '../domain/error.ts';
import type { OperationId } from '../wire/operations.ts';
import type { CallAnswer, CallArguments, CallInput, ListId, ListItem, PlainInput } from './call.ts';
import { authorization, Caller, type ClientOptions } from './caller.ts';

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
    this.#headers = { ...authorization(token), ...(tenantId === undefined ? {} : { 'x-tenant-id': tenantId }) };
  }

  /** Calls one operation and answers its body. */
  async call<I extends OperationId>(id: I, ...[input]: CallArguments<I>): Promise<CallAnswer<I>> {
    const { answer } = await this.#caller.exchange(id, (input ?? {}) as CallInput<I>, this.#headers);
    return answer;
  }

  /** The pages of a list, one request each, from `query.cursor` on if that is given. */
  async *pages<I extends ListId>(id: I, ...[input]: CallArguments<I>): AsyncGenerator<ListItem<I>[]> {
    const plain: PlainInput = input ?? {};
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? plain.query : { ...plain.query, cursor };
      const page = (await this.call(id, ...([{ ...plain, query }] as unknown as CallArguments<I>))) as CallAnswer<ListId>;
      yield page.items as ListItem<I>[];
      const next = page.nextCursor ?? undefined;
      if (next !== undefined && next === cursor) throw new SignageError('unexpected_answer', `The pages of ${id} do not end.`);
      cursor = next;
    } while (cursor !== undefined);
  }

  /** All items of a list, page after page. */
  async *all<I extends ListId>(id: I, ...input: CallArguments<I>): AsyncGenerator<ListItem<I>> {
    for await (const page of this.pages(id, ...input)) yield* page;
  }
}
