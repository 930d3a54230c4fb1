import { iso, secondMs } from '../domain/clock.ts';
import type { EventQuery, StoredEventView, TelemetryEvent } from '../domain/event.ts';
import type { Page } from '../domain/list.ts';
import type { StoredEvent } from '../store/store.ts';
import type { Kit, TenantCaller } from './context.ts';
import type { DeviceCaller } from './device-auth.ts';
import { holdUntil } from './long-poll.ts';
import { afterId } from './paging.ts';

/** A batch as it came from a TV. */
export interface SentBatch {
  events: readonly TelemetryEvent[];
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
export function makeTelemetry(kit: Kit) {
  const { store, clock } = kit;

  /** Durable on return; the answer is whether the batch was there already. Throws `idempotency_key_reused`, `unavailable`. */
  async function accept({ device }: DeviceCaller, { events, line, sent, idempotencyKey }: SentBatch): Promise<boolean> {
    const { tenantId, venueId, screenId, id: deviceId } = device;
    const idempotency = idempotencyKey === undefined ? {} : { idempotency: { key: idempotencyKey, sent } };
    const outcome = await store.appendBatch({ tenantId, venueId, screenId, deviceId, body: line, events, ...idempotency });
    store.touch('device', deviceId, { lastEventAt: clock.now() });
    return outcome === 'repeated';
  }

  /** With `waitSeconds`, an empty answer is held until there is an event. */
  async function list({ tenantId }: TenantCaller, query: EventQuery, signal: AbortSignal): Promise<Page<StoredEventView>> {
    const { cursor, after, waitSeconds = 0, ...filters } = query;
    const from = after === undefined ? afterId(cursor) : { after };
    const look = async () => {
      const { items, next } = await store.events({ ...filters, tenantId, ...from });
      return { value: { items: items.map(view), nextCursor: next }, settled: items.length > 0 || next !== null };
    };
    if (waitSeconds === 0) return (await look()).value;
    return holdUntil(kit, { topic: `events/${tenantId}`, forMs: waitSeconds * secondMs, signal }, look);
  }

  return { accept, list };
}
