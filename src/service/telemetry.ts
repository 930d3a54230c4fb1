import { iso, secondMs } from '../domain/clock.ts';
import type { BatchSums } from '../domain/events/batch-counts.ts';
import type { EventQuery, StoredEventView } from '../domain/events/event.ts';
import type { Page } from '../domain/paging.ts';
import type { StoredEvent } from '../store/store.ts';
import { checkAuthority } from './auth/authority.ts';
import type { DeviceCaller, ServiceDependencies, TenantCaller } from './context.ts';
import { holdUntil, type Turn } from './long-poll.ts';
import { afterId } from './paging.ts';
import { withinVenues } from './venue-scope.ts';

/** A batch as it came from a TV. */
export interface SentBatch {
  sums: BatchSums;
  /** The same as it was sent, as JSON in one line of UTF-8. */
  line: Uint8Array;
  /** The body's own bytes, which an `Idempotency-Key` stands for. */
  sent: Uint8Array;
  idempotencyKey: string | undefined;
}

function view({ receivedAt, ...row }: StoredEvent): StoredEventView {
  return { ...row, receivedAt: iso(receivedAt) };
}

/** Events: taken from TVs, read by managers (docs/protocol.md §2.5, §5.5). */
export function makeTelemetry(deps: ServiceDependencies) {
  const { store, clock } = deps;

  /** Durable on return; the answer is whether the batch was there already. Throws `idempotency_key_reused`, `unavailable`. */
  async function accept(
    { device }: DeviceCaller,
    { sums, line, sent, idempotencyKey }: SentBatch,
  ): Promise<boolean> {
    const { tenantId, venueId, screenId, id: deviceId } = device;
    const idempotency =
      idempotencyKey === undefined ? {} : { idempotency: { key: idempotencyKey, sent } };
    const outcome = await store.appendBatch({
      tenantId,
      venueId,
      screenId,
      deviceId,
      body: line,
      sums,
      ...idempotency,
    });
    store.touch('device', deviceId, { lastEventAt: clock.now() });
    return outcome === 'repeated';
  }

  /** With `waitSeconds`, an empty answer is held until there is an event: pages of what others have sent are passed over. */
  async function list(
    caller: TenantCaller,
    query: EventQuery,
    signal: AbortSignal,
    turn?: Turn,
  ): Promise<Page<StoredEventView>> {
    const { tenantId } = caller;
    const { cursor, after, waitSeconds = 0, ...filters } = query;
    const forMs = waitSeconds * secondMs;
    const endMs = clock.now() + forMs;
    const start = after === undefined ? afterId(cursor) : { after };
    let from = start;
    const look = async () => {
      // What is new comes first there.
      if (filters.order === 'desc') from = start;
      for (;;) {
        const { items, next } = await store.events({
          ...filters,
          tenantId,
          ...withinVenues(caller),
          ...from,
        });
        const isOver = items.length > 0 || next === null || signal.aborted || clock.now() >= endMs;
        if (isOver)
          return {
            value: { items: items.map(view), nextCursor: next },
            settled: items.length > 0 || next !== null,
          };
        from = { after: next };
      }
    };
    if (waitSeconds === 0) return (await look()).value;
    const check = () => checkAuthority(store.read, caller, clock.now());
    return holdUntil(deps, { topic: `events/${tenantId}`, forMs, signal, turn, check }, look);
  }

  return { accept, list };
}
