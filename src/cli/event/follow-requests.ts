import type { ListItem } from '../../client/call.ts';
import { interrupted, pause } from '../../client/pause.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';

type TvRequest = ListItem<'listRequests'>;

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
