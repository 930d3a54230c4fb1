import { BoundedMap } from '../../domain/bounded-map.ts';
import { iso, minuteMs, secondMs } from '../../domain/clock.ts';
import {
  type BatchPlayback,
  batchPlayback,
  type PlaybackActivity,
  playbackAfter,
} from '../../domain/conditions/playback.ts';
import { batchSums } from '../../domain/events/batch-counts.ts';
import type { EventQuery, StoredEventView, TelemetryEvent } from '../../domain/events/event.ts';
import type { Page } from '../../domain/paging.ts';
import type { StoredEvent } from '../../store/queries.ts';
import { checkAuthority } from '../auth/authority.ts';
import type { DevicePrincipal, ServiceDependencies, TenantPrincipal } from '../context.ts';
import { type ConcurrencySlot, longPoll } from '../long-poll.ts';
import { venueScopeFilter } from '../lookup.ts';
import { afterId } from '../paging.ts';
import { makeVenueClocks } from './venue-clocks.ts';

/** A batch of events as a TV sent it. */
export interface SentBatch {
  events: readonly TelemetryEvent[];
  /** The events as JSON, in one line of UTF-8. */
  line: Uint8Array;
  /** The raw body, which an `Idempotency-Key` identifies. */
  sent: Uint8Array;
  idempotencyKey: string | undefined;
  /** The TV's clock when it sent the batch, in Unix epoch milliseconds. */
  deviceTime: number | undefined;
}

/** What is known of the playback of a device. Another instance may have learned more since. */
interface KnownPlayback {
  playback: PlaybackActivity;
  readAt: number;
}

/** Other instances show what they have learned within a minute. */
const knownForMs = minuteMs;
const devicesKnown = 4096;

function view({ receivedAt, offsetMs = null, ...row }: StoredEvent): StoredEventView {
  const { id, deviceId, screenId, event } = row;
  return { id, deviceId, screenId, event, receivedAt: iso(receivedAt), offsetMs };
}

/** Events: accepts them from TVs, and lists them for managers (docs/protocol.md §2.5, §5.5). */
export function makeTelemetry(deps: ServiceDependencies) {
  const { store, clock } = deps;

  const offsetsOf = makeVenueClocks(deps);
  const known = new BoundedMap<string, KnownPlayback>(devicesKnown);

  /** Records what a batch says about the screen (docs/protocol.md §5.15). */
  async function notePlayback(
    deviceId: string,
    batch: BatchPlayback,
    deviceTime: number | undefined,
  ): Promise<void> {
    const receivedAt = clock.now();
    const cached = known.get(deviceId);
    const isFresh = cached && Math.abs(receivedAt - cached.readAt) < knownForMs;
    const before = isFresh ? cached.playback : await store.marks('device', deviceId);
    const after = playbackAfter(batch, before, { receivedAt, deviceTime });
    const readAt = isFresh ? cached.readAt : receivedAt;
    known.set(deviceId, { playback: { ...before, ...after }, readAt });
    store.touch('device', deviceId, { lastEventAt: receivedAt, ...after });
  }

  /**
   * Stores a batch, which is durable when the promise resolves. Returns whether the batch was a
   * repetition. Throws `idempotency_key_reused`, `unavailable`.
   */
  async function accept(
    { device }: DevicePrincipal,
    { events, line, sent, idempotencyKey, deviceTime }: SentBatch,
  ): Promise<boolean> {
    const { tenantId, venueId, screenId, id: deviceId, simulated } = device;
    const idempotency =
      idempotencyKey === undefined ? {} : { idempotency: { key: idempotencyKey, sent } };
    const playback = batchPlayback(events);
    const outcome = await store.appendBatch({
      tenantId,
      venueId,
      screenId,
      deviceId,
      simulated,
      deviceTime,
      body: line,
      sums: batchSums(events, await offsetsOf(venueId, events)),
      ...idempotency,
    });
    const isRepeated = outcome === 'repeated';
    if (isRepeated) store.touch('device', deviceId, { lastEventAt: clock.now() });
    // The batch is stored, so a failure here must not make the TV repeat it.
    else await notePlayback(deviceId, playback, deviceTime).catch(() => {});
    return isRepeated;
  }

  /**
   * Lists events. With `waitSeconds`, long-polls until an event matches. Skips pages without a
   * match.
   */
  async function list(
    principal: TenantPrincipal,
    query: EventQuery,
    signal: AbortSignal,
    slot?: ConcurrencySlot,
  ): Promise<Page<StoredEventView>> {
    const { tenantId } = principal;
    const { cursor, after, waitSeconds = 0, ...filters } = query;
    const forMs = waitSeconds * secondMs;
    const endMs = clock.now() + forMs;
    const start = after === undefined ? afterId(cursor) : { after };
    let from = start;
    const look = async () => {
      // In descending order, new events come first, so the list starts over.
      if (filters.order === 'desc') from = start;
      for (;;) {
        const { items, next } = await store.events({
          ...filters,
          tenantId,
          ...venueScopeFilter(principal),
          ...from,
        });
        const isDone = items.length > 0 || next === null || signal.aborted || clock.now() >= endMs;
        if (isDone)
          return {
            value: { items: items.map(view), nextCursor: next },
            settled: items.length > 0 || next !== null,
          };
        from = { after: next };
      }
    };
    if (waitSeconds === 0) return (await look()).value;
    const check = () => checkAuthority(store.read, principal, clock.now());
    return longPoll(deps, { topics: [`events/${tenantId}`], forMs, signal, slot, check }, look);
  }

  return { accept, list };
}
