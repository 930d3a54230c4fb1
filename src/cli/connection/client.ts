import type { RawRequest } from '../../client/api-client.ts';
import {
  type CallAnswer,
  type CallArguments,
  type CallInput,
  type ListId,
  type ListItem,
  type PlainInput,
  requestPath,
} from '../../client/call.ts';
import type { ManagementClient } from '../../client/management-client.ts';
import type { Reply } from '../../client/problem.ts';
import { hasCode } from '../../domain/error.ts';
import type { RequiredRole } from '../../domain/records/role.ts';
import {
  type Operation,
  type OperationId,
  type Operations,
  operations,
} from '../../wire/operations/operations.ts';
import type { PlannedRequest } from '../output/results.ts';

type ManagementId = {
  [I in OperationId]: Operations[I] extends { access: RequiredRole } ? I : never;
}[OperationId];
/** Operations that only read. */
type ReadId = {
  [I in ManagementId]: Operations[I] extends { method: 'GET' } ? I : never;
}[ManagementId];
/** Operations that change something. */
type ChangeId = Exclude<ManagementId, ReadId>;

/** Wraps the response body, because a change without a body must differ from `--dry-run`. */
interface Made<I extends OperationId> {
  answer: CallAnswer<I>;
}

export interface ServiceReader {
  read<I extends ReadId>(id: I, ...input: CallArguments<I>): Promise<CallAnswer<I>>;
  /** Like `read`, and also returns the ETag of the record. */
  readWithEtag<I extends ReadId>(
    id: I,
    ...input: CallArguments<I>
  ): Promise<{ answer: CallAnswer<I>; etag: string | undefined }>;
  /** Yields all pages of a list. */
  pages<I extends ListId>(id: I, ...input: CallArguments<I>): AsyncGenerator<ListItem<I>[]>;
  all<I extends ListId>(id: I, ...input: CallArguments<I>): Promise<ListItem<I>[]>;
}

/** Access to the service for a command. */
export interface CommandClient extends ServiceReader {
  /** Sends a change. Under `--dry-run` it prints the request instead, and returns `undefined`. */
  change<I extends ChangeId>(id: I, ...input: CallArguments<I>): Promise<Made<I> | undefined>;
  /** Streams a backup. Returns `undefined` under `--dry-run`. */
  backup(input: CallInput<'createBackup'>): Promise<AsyncIterable<Buffer> | undefined>;
  /** Streams the single plays of a report as lines of JSON. */
  plays(input: CallInput<'reportPlays'>): Promise<AsyncIterable<Buffer>>;
  /** Sends any request. Under `--dry-run`, sends only GET requests. */
  send(
    method: Operation['method'],
    path: string,
    body?: unknown,
    options?: Pick<RawRequest, 'headers' | 'timeoutMs' | 'streamed'>,
  ): Promise<Reply | undefined>;
}

/** Maximum number of items on a page (docs/protocol.md §1.6). */
export const largestPage = 200;

/** A client of the service, and the tenant that is named in its requests. */
export interface Connection {
  client: ManagementClient;
  tenantId: string | undefined;
  /** Returns a client that acts in another tenant. */
  clientIn(tenantId: string): ManagementClient;
}

/** A change that a command is about to make, or would make under `--dry-run`. */
export interface UpcomingChange extends PlannedRequest {
  /** `undefined`: a request without an operation, such as the upload of a file. */
  id?: OperationId;
  params?: Record<string, string>;
}

/**
 * Called before each change. Returns what the request has in addition: preconditions. Throws to
 * prevent the change.
 */
export type BeforeChange = (
  change: UpcomingChange,
) => Promise<Pick<PlainInput, 'headers' | 'body'>>;

export interface ApiClientParts {
  /** Connects to the service. The caller passes a memoized function. */
  connect(): Promise<Connection>;
  /** Prints a request. Set under `--dry-run` only. */
  plan: ((request: PlannedRequest) => Promise<void>) | undefined;
  beforeChange?: BeforeChange | undefined;
  signal: AbortSignal;
}

/** Returns the tenant that an answer belongs to, if one of its records says so. */
function tenantOf(answer: unknown): string | undefined {
  // biome-ignore lint/suspicious/noExplicitAny: a record, a list, or a record with a screen
  const { tenantId, screen, items } = (answer ?? {}) as any;
  const found =
    tenantId ?? screen?.tenantId ?? items?.[0]?.tenantId ?? items?.[0]?.screen?.tenantId;
  return typeof found === 'string' ? found : undefined;
}

/**
 * Returns a function that calls the service. A platform token needs no tenant while there is only
 * one. When a second one appears, a command goes on in the tenant whose records it has seen.
 */
function makeCalls(connect: ApiClientParts['connect']) {
  let seen: string | undefined;
  let moved: ManagementClient | undefined;
  const see = (answer: unknown) => {
    seen ??= tenantOf(answer);
  };
  async function withClient<T>(call: (client: ManagementClient) => Promise<T>): Promise<T> {
    const { client, tenantId, clientIn } = await connect();
    try {
      return await call(moved ?? client);
    } catch (error) {
      if (moved || tenantId !== undefined || seen === undefined) throw error;
      if (!hasCode(error, 'tenant_required')) throw error;
      moved = clientIn(seen);
      return call(moved);
    }
  }
  return { see, withClient };
}

export function makeApiClient({
  connect,
  plan,
  signal,
  beforeChange = async () => ({}),
}: ApiClientParts): CommandClient {
  const { see, withClient } = makeCalls(connect);
  const withSignal = <I extends OperationId>(input: unknown) =>
    [{ signal, ...(input as PlainInput | undefined) }] as unknown as CallArguments<I>;
  const planned = async (
    plan: NonNullable<ApiClientParts['plan']>,
    method: string,
    path: string,
    body: unknown,
  ) => {
    const { tenantId } = await connect();
    await plan({
      method,
      path,
      ...(tenantId !== undefined && { tenantId }),
      ...(body !== undefined && { body }),
    });
    return undefined;
  };
  async function* pages<I extends ListId>(
    id: I,
    ...[input]: CallArguments<I>
  ): AsyncGenerator<ListItem<I>[]> {
    const { query, ...rest }: PlainInput = (input ?? {}) as PlainInput;
    const asked = withSignal<I>({ ...rest, query: { limit: largestPage, ...query } });
    const { all, first } = await withClient(async (client) => {
      const pagesOf = client.pages(id, ...asked);
      return { all: pagesOf, first: await pagesOf.next() };
    });
    if (first.done) return;
    see(first.value[0]);
    yield first.value;
    yield* all;
  }
  return {
    pages,
    async read(id, ...[input]) {
      const answer = await withClient((client) => client.call(id, ...withSignal<typeof id>(input)));
      see(answer);
      return answer;
    },
    async readWithEtag(id, ...[input]) {
      const found = await withClient((client) =>
        client.callWithEtag(id, ...withSignal<typeof id>(input)),
      );
      see(found.answer);
      return found;
    },
    async all(id, ...input) {
      const items: ListItem<typeof id>[] = [];
      for await (const page of pages(id, ...input)) for (const item of page) items.push(item);
      return items;
    },
    async change(id, ...[input]) {
      const operation: Operation = operations[id];
      const plain = (input ?? {}) as CallInput<typeof id> & PlainInput;
      const { method } = operation;
      const path = requestPath(operation, plain);
      const { params = {}, body } = plain;
      const more = await beforeChange({ id, method, path, params, body });
      if (plan) return planned(plan, method, path, body);
      const sent = { ...plain, ...more, headers: { ...plain.headers, ...more.headers } };
      const answer = await withClient((client) => client.call(id, ...withSignal<typeof id>(sent)));
      see(answer);
      return { answer };
    },
    async backup(input) {
      if (plan)
        return planned(plan, 'POST', requestPath(operations.createBackup, input), undefined);
      return (await connect()).client.backup({ ...input, signal });
    },
    plays: async (input) => (await connect()).client.plays({ ...input, signal }),
    async send(method, path, body, options) {
      if (method !== 'GET') await beforeChange({ method, path });
      if (plan && method !== 'GET') return planned(plan, method, path, body);
      const { client } = await connect();
      return client.send(method, path, { body, signal, ...options });
    },
  };
}
