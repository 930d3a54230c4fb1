import { secondMs } from '../../domain/clock.ts';
import { coalesced } from '../../domain/concurrency.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import { FairQueue } from '../../domain/turns/fair-queue.ts';
import type { Webhook } from '../../domain/webhooks/rows.ts';
import { isPausedByRestore } from '../../domain/webhooks/webhook.ts';
import { slicesOf } from '../../store/store.ts';
import type { SystemDependencies } from '../context.ts';
import { noticeId } from '../notices/notice-log.ts';
import {
  type DeliveryParts,
  pauseIfTokenGone,
  WebhookWorker,
  type WorkerParts,
} from './webhook-worker.ts';

/** Interval of the looks at all webhooks. A change causes a look at this webhook at once. */
const intervalMs = 20 * secondMs;
/** Attempts at a time, for the whole service and for each tenant. */
const limits = { total: 32, perGroup: 8 };
const pageSize = 200;

/**
 * Delivers notices to webhooks (docs/protocol.md §5.17). It follows the rows of webhooks and the
 * log of notices, and keeps one worker for each active webhook.
 */
export class WebhookDispatcher {
  readonly #stopping = new AbortController();
  readonly #queue = new FairQueue(limits);
  readonly #parts: WorkerParts;
  readonly #workers = new Map<string, WebhookWorker>();
  /** States of all webhooks. */
  readonly #states = new Map<string, Webhook['state']>();
  /** Ids of webhooks that changed since the last look. */
  readonly #changed = new Set<string>();
  /** Whether the next look reads all webhooks. */
  #isAllDue = true;
  /** Number of webhooks that a restore has paused, at the last look at all. */
  #restoredCount = 0;
  /** Id of the newest notice that was offered to the workers. */
  #tail: string | undefined;
  readonly #looking = coalesced(() => this.#look());

  constructor(deps: SystemDependencies, parts: DeliveryParts) {
    this.#parts = { ...parts, deps, queue: this.#queue, stopping: this.#stopping.signal };
  }

  /** Returns a function that stops the delivery. */
  start(): () => Promise<void> {
    const { deps, noticeLog, noticeFigures } = this.#parts;
    const { store, clock } = deps;
    noticeFigures.webhooks = () => this.#countStates();
    noticeFigures.oldestWaitingAt = () => this.#oldestWaitingAt();
    const stopWatching = [
      noticeLog.watch(() => this.#lookNow()),
      store.watch('*', (topic) => this.#noteChange(topic)),
    ];
    const lookAtAll = () => {
      this.#isAllDue = true;
      return this.#looking.run();
    };
    const stopJob = startPeriodicJob(clock, intervalMs, lookAtAll, (err) => this.#warn(err));
    this.#lookNow();
    return async () => {
      this.#stopping.abort();
      for (const stop of stopWatching) stop();
      await stopJob();
      await this.#looking.idle();
      for (const worker of this.#workers.values()) worker.drop();
      this.#workers.clear();
      await this.#queue.clear();
      noticeFigures.stopWatching();
    };
  }

  #countStates() {
    const counts = { active: 0, paused: 0, disabled: 0 };
    for (const state of this.#states.values()) counts[state]++;
    return counts;
  }

  #oldestWaitingAt(): number | undefined {
    let oldest: number | undefined;
    for (const { waitingSince } of this.#workers.values())
      if (waitingSince !== undefined && !(oldest !== undefined && oldest <= waitingSince))
        oldest = waitingSince;
    return oldest;
  }

  #warn(err: unknown): void {
    this.#parts.log.warn({ err }, 'Webhooks could not be read; this is retried in 20 seconds.');
  }

  #lookNow(): void {
    this.#looking.run().catch((err) => this.#warn(err));
  }

  #noteChange(topic: string): void {
    const [kind, id] = topic.split('/');
    if (id === undefined) this.#isAllDue = true;
    else if (kind === 'webhooks') this.#changed.add(id);
    else return;
    this.#lookNow();
  }

  async #look(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    await this.#readNotices();
    await this.#readWebhooks();
  }

  /** Offers new notices to the workers. */
  async #readNotices(): Promise<void> {
    const { noticeLog } = this.#parts;
    if (this.#tail === undefined) {
      // Each worker looks for itself at its start.
      const [newest] = (await noticeLog.page({ order: 'desc', limit: 1 })).items;
      this.#tail = newest ? noticeId(newest) : noticeId({ at: 0, seq: 0 });
    }
    for (;;) {
      const from = { order: 'asc', after: this.#tail, limit: pageSize } as const;
      const { items, next } = await noticeLog.page(from);
      for (const worker of this.#workers.values()) worker.offer(items);
      const newest = items.at(-1);
      if (newest) this.#tail = noticeId(newest);
      if (next === null) return;
    }
  }

  /** Reads the webhooks that changed, or all of them. */
  async #readWebhooks(): Promise<void> {
    const ids = [...this.#changed];
    this.#changed.clear();
    try {
      if (this.#isAllDue) await this.#readAll();
      else
        for (const id of ids) {
          const webhook = await this.#parts.deps.store.read.get('webhooks', id);
          if (webhook) await this.#take(webhook);
          else this.#forget(id);
        }
      this.#isAllDue = false;
    } catch (error) {
      this.#isAllDue = true;
      throw error;
    }
  }

  async #readAll(): Promise<void> {
    const found = new Set<string>();
    let restored = 0;
    const slices = slicesOf(this.#parts.deps.store, 'webhooks', { limit: pageSize });
    for await (const webhooks of slices)
      for (const webhook of webhooks) {
        found.add(webhook.id);
        if (isPausedByRestore(webhook)) restored++;
        await this.#take(webhook);
      }
    for (const id of [...this.#states.keys()]) if (!found.has(id)) this.#forget(id);
    if (restored > 0 && restored !== this.#restoredCount)
      this.#parts.log.warn(
        { webhooks: restored },
        'Webhooks are paused because a backup was restored: no receiver is notified. When this service may notify: signage webhook resume --all',
      );
    this.#restoredCount = restored;
  }

  /** Starts or updates the worker of an active webhook, and drops that of any other. */
  async #take(webhook: Webhook): Promise<void> {
    const { id, state } = webhook;
    const isPaused = state === 'active' && (await pauseIfTokenGone(this.#parts.deps, webhook));
    if (state === 'active' && !isPaused) this.#keep(webhook);
    else this.#forget(id);
    this.#states.set(id, isPaused ? 'paused' : state);
  }

  #keep(webhook: Webhook): void {
    const known = this.#workers.get(webhook.id);
    if (known) {
      known.update(webhook);
      return;
    }
    const worker = new WebhookWorker(this.#parts, webhook);
    this.#workers.set(webhook.id, worker);
    worker.wake();
  }

  #forget(id: string): void {
    this.#states.delete(id);
    this.#workers.get(id)?.drop();
    this.#workers.delete(id);
  }
}
