import type { EventInput } from '../client/entities.ts';
import { dayMs, secondMs } from '../domain/clock.ts';
import type { SignageError } from '../domain/error.ts';
import { type Batch, largestBatch, statusEvent } from './batch.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';

const defaultQueueLimit = 10_000;
const defaultRetentionDays = 7;

/**
 * Removes and returns the oldest events above the queue limit, and events older than the retention
 * time of the config (default: 7 days).
 */
function dropSurplus(core: PlayerCore): EventInput[] {
  const { queueLimit = defaultQueueLimit } = core.options;
  const { queue } = core.record;
  const { config } = core.state;
  const days = config?.cachePolicy?.retentionDays;
  const oldestMs =
    core.clock.now() - (typeof days === 'number' && days > 0 ? days : defaultRetentionDays) * dayMs;
  const fresh = queue.findIndex(({ timestamp }) => timestamp * secondMs >= oldestMs);
  return queue.shift(Math.max(0, unsentCount(core) - queueLimit, fresh));
}

/** Queues an event. An urgent event is sent at once, with all other queued events. */
export function queueEvent(core: PlayerCore, event: EventInput, isUrgent = false): void {
  const queued = core.record.addEvent(event);
  const dropped = dropSurplus(core);
  core.isUrgent ||= isUrgent;
  core.observer.onEvent?.(queued);
  if (dropped.length > 0) core.observer.onDropped?.(dropped, 'overflow');
  core.saveInBackground();
  core.networkNotifier.notify();
}

/** Queues a heartbeat, which is sent at once. */
export function queueHeartbeat(core: PlayerCore): void {
  queueEvent(core, statusEvent('heartbeat', core.clock.now(), core.isHidden), true);
}

export const unsentCount = ({ record, state }: PlayerCore) =>
  record.queue.length + (state.batch?.events.length ?? 0);

const postCall: PlayerCall<number> = { operation: 'postEvents', statusOf: () => 202 };

/** Returns the events of a batch to the queue. They will be sent under another idempotency key. */
function putBack(core: PlayerCore, { events }: Batch): void {
  core.record.change({ batch: undefined });
  core.record.queue.unshift(events);
}

/** Returns the pending batch, or creates the next batch. Saves a batch before its first attempt. */
async function nextBatch(core: PlayerCore): Promise<Batch | undefined> {
  const { queue } = core.record;
  const { batch } = core.state;
  if (batch || queue.length === 0) return batch;
  const next = {
    events: queue.shift(core.batchLimit),
    idempotencyKey: core.makeIdempotencyKey(),
  };
  if (queue.length === 0) core.isUrgent = false;
  core.record.change({ batch: next });
  try {
    await core.record.save();
  } catch (error) {
    if (core.state.batch === next) putBack(core, next);
    throw error;
  }
  return next;
}

/** Returns the indexes of the events named by a rejection: `/3/timestamp` is index 3. */
function rejectedIndexes({ errors = [] }: SignageError, count: number): ReadonlySet<number> {
  const indexes = errors.map(({ path }) =>
    Number(/^\/(\d+)(?:\/|$)/.exec(path)?.[1] ?? Number.NaN),
  );
  return new Set(indexes.filter((index) => index < count));
}

/**
 * Drops the rejected events of a batch. Returns the other events to the queue. The TV sends them
 * under a new idempotency key.
 */
function dropEvents(
  core: PlayerCore,
  { events }: Batch,
  isRejected: (index: number) => boolean,
): void {
  const rest = events.filter((_, index) => !isRejected(index));
  const dropped = events.filter((_, index) => isRejected(index));
  core.record.change({ batch: undefined });
  core.record.queue.unshift(rest);
  core.repairs++;
  core.saveInBackground();
  core.observer.onDropped?.(dropped, 'refused');
}

/** Halves the batch size to isolate a rejected event. If the batch has a single event, drops it. */
function splitBatch(core: PlayerCore, batch: Batch): void {
  if (batch.events.length === 1) {
    dropEvents(core, batch, () => true);
    return;
  }
  core.batchLimit = Math.ceil(batch.events.length / 2);
  core.repairs++;
  putBack(core, batch);
}

/**
 * Repairs a rejected batch if the error demands it (docs/protocol.md §2.6). Otherwise the TV
 * retries the batch unchanged.
 */
function repairBatch(core: PlayerCore, batch: Batch, error: SignageError): void {
  if (core.state.batch !== batch) return;
  const named = rejectedIndexes(error, batch.events.length);
  if (error.code === 'idempotency_key_reused') putBack(core, batch);
  else if (error.status === 400 && named.size > 0)
    dropEvents(core, batch, (index) => named.has(index));
  else if (error.status === 400 || error.status === 413) splitBatch(core, batch);
}

/**
 * Sends one batch. Returns the number of stored events, or 0 if the queue was empty. Throws the
 * error of the service, after repairing the batch.
 */
export async function flushOnce(core: PlayerCore): Promise<number> {
  const batch = await nextBatch(core);
  if (!batch) return 0;
  const { events, idempotencyKey } = batch;
  core.observer.onSending?.(batch);
  try {
    const received = await callWithKey(core, postCall, (client, id, signal) =>
      client.postEvents(id, [...events], {
        idempotencyKey,
        deviceTime: Math.floor(core.clock.now()),
        signal,
        attempts: 1,
      }),
    );
    core.record.change({ batch: undefined });
    core.batchLimit = Math.min(largestBatch, core.batchLimit * 2);
    core.saveInBackground();
    core.observer.onAcknowledged?.(batch, received);
    return received;
  } catch (error) {
    repairBatch(core, batch, error as SignageError);
    throw error;
  }
}
