import { pause } from '../../client/pause.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { StoredEventView as StoredEvent } from '../../domain/events/event.ts';
import type { CommandContext } from '../command/context.ts';

/** The service holds an answer for so long, at most. */
const waitSeconds = 30;
const largestPage = 200;

export interface Filters {
  type?: string;
  deviceId?: string;
  screenId?: string;
  from?: string;
}

interface Following {
  filters: Filters;
  /** The event to begin after; the newest there is unless given, or unless `filters.from` says where to begin. */
  after?: string | undefined;
  signal: AbortSignal;
}

async function newest(call: CommandContext, signal: AbortSignal): Promise<string | undefined> {
  return (await call.read('listEvents', { query: { limit: 1 }, signal })).items[0]?.id;
}

/** Events as they come in, oldest first, none twice and none left out; until the signal ends it as `interrupted`. */
export async function* followEvents(
  call: CommandContext,
  { filters, after, signal }: Following,
): AsyncGenerator<StoredEvent[]> {
  let last = after ?? (filters.from === undefined ? await newest(call, signal) : undefined);
  for (;;) {
    const askedAt = call.clock.now();
    const query = {
      ...filters,
      order: 'asc' as const,
      limit: largestPage,
      waitSeconds,
      ...(last !== undefined && { after: last }),
    };
    const { items, nextCursor } = await readOn(call, query, signal);
    if (items.length > 0) yield items;
    const next = nextCursor ?? items.at(-1)?.id;
    if (next !== undefined && next === last)
      throw new SignageError(
        'unexpected_answer',
        'The service answers the same events again and again.',
      );
    last = next ?? last;
    // A service that is about to stop, or a proxy, may not hold its answers: we must not ask without end.
    if (next === undefined && call.clock.now() - askedAt < 1000)
      await pause(call.clock, 1000, signal);
  }
}

type EventQuery = Filters & { order: 'asc'; limit: number; waitSeconds: number; after?: string };

/** One answer; says where to go on when there is none. */
async function readOn(call: CommandContext, query: EventQuery, signal: AbortSignal) {
  try {
    return await call.read('listEvents', { query, signal });
  } catch (error) {
    if (!hasCode(error, 'unreachable') || query.after === undefined) throw error;
    throw new SignageError(error.code, error.message, {
      cause: error,
      hint: `--after ${query.after} goes on where this ended.`,
    });
  }
}
