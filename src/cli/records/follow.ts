import type { CallInput, ListItem } from '../../client/call.ts';
import type { TvRequest } from '../../client/entities.ts';
import { interrupted, pause } from '../../client/pause.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { largestPage } from '../connection/client.ts';
import { limitPages } from '../output/results.ts';
import type { ViewSource } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';

/**
 * Prints the pages of `--follow` as they arrive, until stdout closes or `--limit` is reached.
 * `follow` must throw `interrupted` when its signal aborts. Throws `interrupted` if the command is
 * interrupted.
 */
export async function printFollowed<T>(
  call: CommandContext,
  follow: (signal: AbortSignal) => AsyncIterable<readonly T[]>,
  view: ViewSource<T>,
): Promise<void> {
  const { limit } = call.common;
  if (limit === undefined) call.results.requireEndless('--follow');
  const { gone } = call.io.stdout;
  const signal = gone ? AbortSignal.any([call.interrupted, gone]) : call.interrupted;
  try {
    await call.results.list(limitPages(follow(signal), limit), view);
  } catch (error) {
    if (!gone?.aborted || !hasCode(error, 'interrupted')) throw error;
  }
}

export interface RequestFilters {
  screenId: string | undefined;
  deviceId: string | undefined;
  refused: 'true' | undefined;
  from: string | undefined;
}

const pollMs = 2000;
/**
 * Time before the newest request that each poll reads again, because other instances share their
 * requests with a delay.
 */
const overlapMs = 5000;

/**
 * Reads all requests that match. If the service becomes unreachable, the hint of the error contains
 * the option that resumes.
 */
async function readRequests(
  call: CommandContext,
  query: RequestFilters,
  signal: AbortSignal,
): Promise<TvRequest[]> {
  try {
    return await call.all('listRequests', { query, signal });
  } catch (error) {
    if (!hasCode(error, 'unreachable') || query.from === undefined) throw error;
    const hint = `--since ${query.from} resumes from here.`;
    throw new SignageError(error.code, error.message, { cause: error, hint });
  }
}

/** Returns the start of the list for the next poll, which is never before `since`. */
function nextFrom(newest: TvRequest, since: string | undefined): string {
  const sinceMs = since === undefined ? 0 : Date.parse(since);
  return new Date(Math.max(Date.parse(newest.at) - overlapMs, sinceMs)).toISOString();
}

/**
 * Returns the time at which the first poll starts: shortly before the newest request. Returns
 * `undefined` if there is no request.
 */
async function fromNewest(
  call: CommandContext,
  filters: RequestFilters,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = { ...filters, limit: 1 };
  const [newest] = (await call.read('listRequests', { query, signal })).items;
  return newest && nextFrom(newest, undefined);
}

/**
 * Yields new requests, oldest first, each once. Without `filters.from`, skips the requests that
 * exist at the start. Throws `interrupted` when the signal aborts.
 */
export async function* followRequests(
  call: CommandContext,
  filters: RequestFilters,
  signal: AbortSignal,
): AsyncGenerator<TvRequest[]> {
  let from = filters.from ?? (await fromNewest(call, filters, signal));
  let isPresent = filters.from === undefined && from !== undefined;
  let known = new Set<string>();
  for (;;) {
    const requests = await readRequests(call, { ...filters, from }, signal);
    const added = requests.filter(({ id }) => !known.has(id)).reverse();
    if (added.length > 0 && !isPresent) yield added;
    isPresent = false;
    const [newest] = requests;
    if (newest) {
      from = nextFrom(newest, filters.from);
      known = new Set(requests.map(({ id }) => id));
    }
    await pause(call.clock, pollMs, signal);
    if (signal.aborted) throw interrupted(signal);
  }
}

/** Maximum duration of a long poll. */
const waitSeconds = 30;

/** The lists that can be followed. */
export type FollowedList = 'listEvents' | 'listNotices';

interface FollowOptions<L extends FollowedList> {
  filters: CallInput<L>['query'];
  /** The item to start after. Default: the newest item, or the start given by `filters.from`. */
  after?: string | undefined;
  signal: AbortSignal;
}

async function newest(
  call: CommandContext,
  list: FollowedList,
  signal: AbortSignal,
): Promise<string | undefined> {
  return (await call.read(list, { query: { limit: 1 }, signal })).items[0]?.id;
}

/**
 * Yields new items of a list, oldest first, without gaps or duplicates. Throws `interrupted` when
 * the signal aborts.
 */
export async function* followList<L extends FollowedList>(
  call: CommandContext,
  list: L,
  { filters, after, signal }: FollowOptions<L>,
): AsyncGenerator<ListItem<L>[]> {
  let last = after ?? (filters?.from === undefined ? await newest(call, list, signal) : undefined);
  for (;;) {
    const requestedAt = call.clock.now();
    const { items, nextCursor } = await readPage(call, list, { filters, after: last, signal });
    if (items.length > 0) yield items;
    const next = nextCursor ?? items.at(-1)?.id;
    if (next !== undefined && next === last)
      throw new SignageError(
        'unexpected_answer',
        'The service returns the same items again and again.',
      );
    last = next ?? last;
    // A stopping service or a proxy may end a long poll at once. The pause avoids a busy loop.
    if (next === undefined && call.clock.now() - requestedAt < 1000)
      await pause(call.clock, 1000, signal);
  }
}

/**
 * Reads one page. If the service becomes unreachable after the first item, the hint of the error
 * names `--after` with the id of the last item.
 */
async function readPage<L extends FollowedList>(
  call: CommandContext,
  list: L,
  { filters, after, signal }: FollowOptions<L>,
) {
  const query = { ...filters, order: 'asc' as const, limit: largestPage, waitSeconds, after };
  try {
    const input = { query, signal } as CallInput<'listEvents'>;
    // Both lists take the same paging parameters.
    const page = await call.read(list as 'listEvents', input);
    return page as unknown as {
      items: (ListItem<L> & { id: string })[];
      nextCursor: string | null;
    };
  } catch (error) {
    if (!hasCode(error, 'unreachable') || after === undefined) throw error;
    throw new SignageError(error.code, error.message, {
      cause: error,
      hint: `--after ${after} resumes from here.`,
    });
  }
}
