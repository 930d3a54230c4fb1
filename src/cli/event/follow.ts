import { pause } from '../../client/pause.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { StoredEventView as StoredEvent } from '../../domain/events/event.ts';
import { largestPage } from '../api/client.ts';
import type { CommandContext } from '../command/context.ts';

/** Maximum duration of a long poll. */
const waitSeconds = 30;

interface Filters {
  type: string | undefined;
  deviceId: string | undefined;
  screenId: string | undefined;
  from: string | undefined;
}

interface FollowOptions {
  filters: Filters;
  /** The event to start after. Default: the newest event, or the start given by `filters.from`. */
  after?: string | undefined;
  signal: AbortSignal;
}

async function newest(call: CommandContext, signal: AbortSignal): Promise<string | undefined> {
  return (await call.read('listEvents', { query: { limit: 1 }, signal })).items[0]?.id;
}

/**
 * Yields new events, oldest first, without gaps or duplicates. Throws `interrupted` when the signal
 * aborts.
 */
export async function* followEvents(
  call: CommandContext,
  { filters, after, signal }: FollowOptions,
): AsyncGenerator<StoredEvent[]> {
  let last = after ?? (filters.from === undefined ? await newest(call, signal) : undefined);
  for (;;) {
    const requestedAt = call.clock.now();
    const { items, nextCursor } = await readPage(call, filters, last, signal);
    if (items.length > 0) yield items;
    const next = nextCursor ?? items.at(-1)?.id;
    if (next !== undefined && next === last)
      throw new SignageError(
        'unexpected_answer',
        'The service returns the same events again and again.',
      );
    last = next ?? last;
    // A stopping service or a proxy may end a long poll at once. The pause avoids a busy loop.
    if (next === undefined && call.clock.now() - requestedAt < 1000)
      await pause(call.clock, 1000, signal);
  }
}

/**
 * Reads one page. If the service becomes unreachable after the first event, the hint of the error
 * names `--after` with the id of the last event.
 */
async function readPage(
  call: CommandContext,
  filters: Filters,
  after: string | undefined,
  signal: AbortSignal,
) {
  const query = { ...filters, order: 'asc' as const, limit: largestPage, waitSeconds, after };
  try {
    return await call.read('listEvents', { query, signal });
  } catch (error) {
    if (!hasCode(error, 'unreachable') || after === undefined) throw error;
    throw new SignageError(error.code, error.message, {
      cause: error,
      hint: `--after ${after} resumes from here.`,
    });
  }
}
