import { dayMs, secondMs } from '../../domain/clock.ts';
import type { SignageError } from '../../domain/error.ts';
import { type Batch, type EventInput, largestBatch } from './batch.ts';
import { callWithKey, type PlayerCall } from './call.ts';
import type { PlayerCore } from './core.ts';

const usualQueueLimit = 10_000;
const usualRetentionDays = 7;

/** How many of the oldest events go to make room for the others. */
function surplusOf(core: PlayerCore, queue: readonly EventInput[]): number {
  const { queueLimit = usualQueueLimit } = core.options;
  const { config, batch } = core.state;
  const tooMany = queue.length + (batch?.events.length ?? 0) - queueLimit;
  const days = config?.cachePolicy?.retentionDays;
  const oldestMs =
    core.clock.now() - (typeof days === 'number' && days > 0 ? days : usualRetentionDays) * dayMs;
  const fresh = queue.findIndex(({ timestamp }) => timestamp * secondMs >= oldestMs);
  return Math.max(0, Math.min(tooMany, queue.length), fresh);
}

/** Keeps an event until it is sent. Urgent ones go at once, and take with them what waits. */
export function keepEvent(core: PlayerCore, event: EventInput, isUrgent = false): void {
  const queue = [...core.state.queue, event];
  const surplus = surplusOf(core, queue);
  core.record.change({ queue: surplus > 0 ? queue.slice(surplus) : queue });
  core.isUrgent ||= isUrgent;
  core.observer.onEvent?.(event);
  if (surplus > 0) core.observer.onDropped?.(queue.slice(0, surplus), 'overflow');
  core.saveSoon();
  core.networkBell.ring();
}

export const unsent = ({ state }: PlayerCore) =>
  state.queue.length + (state.batch?.events.length ?? 0);

const postCall: PlayerCall<number> = { operation: 'postEvents', statusOf: () => 202 };

/** Makes the batch a part of the queue again, to be sent under another key. */
function putBack(core: PlayerCore, { events }: Batch): void {
  core.record.change({ batch: undefined, queue: [...events, ...core.state.queue] });
}

/** The batch that is under way, or else the next; it is durable before it is sent for the first time. */
async function nextBatch(core: PlayerCore): Promise<Batch | undefined> {
  const { batch, queue } = core.state;
  if (batch || queue.length === 0) return batch;
  const next = { events: queue.slice(0, core.batchLimit), idempotencyKey: core.makeKey() };
  if (queue.length <= core.batchLimit) core.isUrgent = false;
  core.record.change({ batch: next, queue: queue.slice(core.batchLimit) });
  try {
    await core.record.save();
  } catch (error) {
    if (core.state.batch === next) putBack(core, next);
    throw error;
  }
  return next;
}

/** The places of the events that a refusal names: `/3/timestamp` is the fourth. */
function namedPlaces({ errors = [] }: SignageError, count: number): ReadonlySet<number> {
  const places = errors.map(({ path }) => Number(/^\/(\d+)(?:\/|$)/.exec(path)?.[1] ?? Number.NaN));
  return new Set(places.filter((place) => place < count));
}

/** Gives up these events of the batch; the others, if there are any, go under a key of their own. */
function dropEvents(core: PlayerCore, { events }: Batch, isBad: (place: number) => boolean): void {
  const rest = events.filter((_, place) => !isBad(place));
  const dropped = events.filter((_, place) => isBad(place));
  core.record.change({ batch: undefined, queue: [...rest, ...core.state.queue] });
  core.mends++;
  core.saveSoon();
  core.observer.onDropped?.(dropped, 'refused');
}

/** Sends the events in smaller parts, down to single ones: of those, a refused one is given up. */
function divide(core: PlayerCore, batch: Batch): void {
  if (batch.events.length === 1) {
    dropEvents(core, batch, () => true);
    return;
  }
  core.batchLimit = Math.ceil(batch.events.length / 2);
  core.mends++;
  putBack(core, batch);
}

/** Mends a batch that was refused, as far as its error says how (docs/protocol.md §2.6); all else is sent again as it is. */
function mend(core: PlayerCore, batch: Batch, error: SignageError): void {
  if (core.state.batch !== batch) return;
  const named = namedPlaces(error, batch.events.length);
  if (error.code === 'idempotency_key_reused') putBack(core, batch);
  else if (error.status === 400 && named.size > 0)
    dropEvents(core, batch, (place) => named.has(place));
  else if (error.status === 400 || error.status === 413) divide(core, batch);
}

/** Sends one batch; answers how many events were stored, 0 when there was nothing to send. Throws what the service said, after mending. */
export async function flushOnce(core: PlayerCore): Promise<number> {
  const batch = await nextBatch(core);
  if (!batch) return 0;
  const { events, idempotencyKey } = batch;
  core.observer.onSending?.(batch);
  try {
    const received = await callWithKey(core, postCall, (client, id, signal) =>
      client.postEvents(id, [...events], { idempotencyKey, signal, attempts: 1 }),
    );
    core.record.change({ batch: undefined });
    core.batchLimit = Math.min(largestBatch, core.batchLimit * 2);
    core.saveSoon();
    core.observer.onAcknowledged?.(batch, received);
    return received;
  } catch (error) {
    mend(core, batch, error as SignageError);
    throw error;
  }
}
