import { isDeepStrictEqual } from 'node:util';
import { secondMs } from '../../domain/clock.ts';
import { coalesced } from '../../domain/concurrency.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Notice } from '../../domain/notices/rows.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import type { Token } from '../../domain/records/rows.ts';
import { FairQueue } from '../../domain/turns/fair-queue.ts';
import { dueAt, verdictOf } from '../../domain/webhooks/retry.ts';
import type { Webhook } from '../../domain/webhooks/rows.ts';
import { webhookMessage } from '../../domain/webhooks/signature.ts';
import { isPausedByRestore } from '../../domain/webhooks/webhook.ts';
import type { WebhookSender } from '../../network/webhook-sender.ts';
import { confirmedTime } from '../confirmed-time.ts';
import type { SystemDependencies } from '../context.ts';
import type { NoticeFigures } from '../notices/notice-figures.ts';
import { type NoticeLog, noticeId } from '../notices/notice-log.ts';
import { noticeView } from '../notices/notices.ts';
import { sendMessage, wantsNotice } from './message.ts';
import { settleAttempt, stopWebhook } from './settle.ts';

/** Interval of the looks at all webhooks. A change causes a look at this webhook at once. */
const intervalMs = 20 * secondMs;
/** Attempts at a time, for the whole service and for each tenant. */
const limits = { total: 32, perGroup: 8 };
const pageSize = 200;

interface DeliveryParts {
  noticeLog: NoticeLog;
  noticeFigures: NoticeFigures;
  sender: WebhookSender;
  log: LogSink;
}

/** A webhook that is delivered. */
interface Worker {
  webhook: Webhook;
  isBusy: boolean;
  /** Whether there is more to do since the last step began. */
  isAgain: boolean;
  cancelTimer: () => void;
  /** Time of the oldest notice that waits, as far as it is known. */
  waitingSince: number | undefined;
}

const isAlive = (token: Token | undefined, nowMs: number): boolean =>
  token !== undefined && (token.expiresAt === null || token.expiresAt > nowMs);

/**
 * Delivers notices to webhooks (docs/protocol.md §5.17). Each webhook has one attempt at a time, of
 * its oldest notice. Returns a function that stops it.
 */
export function startWebhookDelivery(
  deps: SystemDependencies,
  { noticeLog, noticeFigures: figures, sender, log }: DeliveryParts,
): () => Promise<void> {
  const { store, clock } = deps;
  const workers = new Map<string, Worker>();
  /** States of all webhooks. */
  const states = new Map<string, Webhook['state']>();
  /** Ids of webhooks that changed since the last look. */
  const changed = new Set<string>();
  /** Whether the next look reads all webhooks. */
  let isAllDue = true;
  /** Number of webhooks that a restore has paused, at the last look at all. */
  let restoredCount = 0;
  const queue = new FairQueue(limits);
  const stopping = new AbortController();
  /** Id of the newest notice that was offered to the workers. */
  let tail: string | undefined;

  /**
   * Pauses a webhook whose token is gone. Returns whether it is. A token that a jump of the clock
   * seems to have ended does not work meanwhile, but pauses nothing.
   */
  async function pauseIfTokenGone({ id, tokenId }: Webhook): Promise<boolean> {
    const token = await store.read.get('tokens', tokenId);
    if (isAlive(token, clock.now())) return false;
    if (isAlive(token, await confirmedTime(store.read, clock.now()))) return true;
    await store.write(async (tx) => {
      const row = await tx.get('webhooks', id);
      const nowMs = await confirmedTime(tx, tx.now);
      if (row?.state !== 'active' || isAlive(await tx.get('tokens', row.tokenId), nowMs)) return;
      await stopWebhook(deps, tx, row, 'token_gone');
    });
    return true;
  }

  /** Returns the oldest notice that waits for a webhook, and the time of its next attempt. */
  async function nextOf(webhook: Webhook): Promise<{ notice: Notice; at: number } | undefined> {
    for (;;) {
      const [oldest] = await store.read.select('webhookDeliveries', 'pendingOf', [webhook.id]);
      if (!oldest) break;
      const notice = await noticeLog.get(oldest.noticeId);
      if (notice) return { notice, at: dueAt(oldest, clock.now()) };
      // The notice was deleted, because its time is over.
      await store.write((tx) => tx.delete('webhookDeliveries', oldest.id));
    }
    let after = (await store.read.get('webhookCursors', webhook.id))?.after;
    const matches = (notice: Notice) => wantsNotice(webhook, notice);
    for (;;) {
      const page = await noticeLog.page({ order: 'asc', after, limit: 1, matches });
      const [notice] = page.items;
      if (notice) return { notice, at: 0 };
      if (page.next === null) return undefined;
      after = page.next;
    }
  }

  /** Makes at most one attempt. Returns the time of the next one. `undefined`: nothing waits. */
  async function step(worker: Worker): Promise<number | undefined> {
    const { id } = worker.webhook;
    const webhook = await store.read.get('webhooks', id);
    if (webhook?.state !== 'active' || (await pauseIfTokenGone(webhook))) return undefined;
    const next = await nextOf(webhook);
    worker.waitingSince = next?.notice.at;
    if (!next || next.at > clock.now()) return next?.at;
    const noticed = noticeId(next.notice);
    const message = webhookMessage(noticeView(next.notice));
    const outcome = await sendMessage(deps, sender, webhook, noticed, message, {
      signal: stopping.signal,
    });
    // A stopped attempt is no failure of the receiver.
    if (stopping.signal.aborted && outcome.status === null) return undefined;
    figures.attempts[verdictOf(outcome.status)]++;
    await store.write((tx) => settleAttempt(deps, tx, id, noticed, outcome));
    return clock.now();
  }

  async function run(worker: Worker): Promise<void> {
    worker.isAgain = false;
    let nextAt: number | undefined;
    try {
      nextAt = await step(worker);
    } catch (err) {
      if (!stopping.signal.aborted)
        log.warn(
          { err, webhook: worker.webhook.id },
          'A webhook could not be delivered; this is retried in 20 seconds.',
        );
      nextAt = clock.now() + intervalMs;
    }
    worker.isBusy = false;
    if (stopping.signal.aborted || !workers.has(worker.webhook.id)) return;
    const delayMs = worker.isAgain ? 0 : (nextAt ?? Number.POSITIVE_INFINITY) - clock.now();
    if (delayMs <= 0) wake(worker);
    else if (delayMs < Number.POSITIVE_INFINITY)
      worker.cancelTimer = clock.after(delayMs, () => wake(worker));
  }

  function wake(worker: Worker): void {
    worker.isAgain = true;
    if (worker.isBusy || stopping.signal.aborted) return;
    worker.cancelTimer();
    worker.isBusy = true;
    queue.add(worker.webhook.tenantId, () => run(worker));
  }

  function drop(worker: Worker): void {
    worker.cancelTimer();
    workers.delete(worker.webhook.id);
  }

  function keep(webhook: Webhook): void {
    const known = workers.get(webhook.id);
    if (known && isDeepStrictEqual(known.webhook, webhook)) return;
    const worker = known ?? {
      webhook,
      isBusy: false,
      isAgain: false,
      cancelTimer: () => {},
      waitingSince: undefined,
    };
    worker.webhook = webhook;
    workers.set(webhook.id, worker);
    wake(worker);
  }

  function forget(id: string): void {
    states.delete(id);
    const worker = workers.get(id);
    if (worker) drop(worker);
  }

  async function take(webhook: Webhook): Promise<void> {
    const isPaused = webhook.state === 'active' && (await pauseIfTokenGone(webhook));
    if (webhook.state === 'active' && !isPaused) keep(webhook);
    else forget(webhook.id);
    states.set(webhook.id, isPaused ? 'paused' : webhook.state);
  }

  async function readAll(): Promise<void> {
    const found = new Set<string>();
    let restored = 0;
    for (let after: string | undefined; ; ) {
      const from = after === undefined ? {} : { after };
      const { items, next } = await store.list('webhooks', { limit: pageSize, ...from });
      for (const webhook of items) {
        found.add(webhook.id);
        if (isPausedByRestore(webhook)) restored++;
        await take(webhook);
      }
      if (next === null) break;
      after = next;
    }
    for (const id of [...states.keys()]) if (!found.has(id)) forget(id);
    if (restored > 0 && restored !== restoredCount)
      log.warn(
        { webhooks: restored },
        'Webhooks are paused because a backup was restored: no receiver is notified. When this service may notify: signage webhook resume --all',
      );
    restoredCount = restored;
  }

  /** Reads the webhooks that changed, or all of them. */
  async function readWebhooks(): Promise<void> {
    const ids = [...changed];
    changed.clear();
    try {
      if (isAllDue) await readAll();
      else
        for (const id of ids) {
          const webhook = await store.read.get('webhooks', id);
          if (webhook) await take(webhook);
          else forget(id);
        }
      isAllDue = false;
    } catch (error) {
      isAllDue = true;
      throw error;
    }
  }

  /** Wakes the webhooks that want a new notice. */
  async function readNotices(): Promise<void> {
    if (tail === undefined) {
      // Each webhook looks for itself when it is first read.
      const [newest] = (await noticeLog.page({ order: 'desc', limit: 1 })).items;
      tail = newest ? noticeId(newest) : noticeId({ at: 0, seq: 0 });
    }
    for (;;) {
      const { items, next } = await noticeLog.page({ order: 'asc', after: tail, limit: pageSize });
      for (const worker of workers.values()) {
        const wanted = items.find((notice) => wantsNotice(worker.webhook, notice));
        if (!wanted) continue;
        worker.waitingSince ??= wanted.at;
        wake(worker);
      }
      const newest = items.at(-1);
      if (newest) tail = noticeId(newest);
      if (next === null) return;
    }
  }

  const looking = coalesced(async () => {
    if (stopping.signal.aborted) return;
    await readNotices();
    await readWebhooks();
  });

  figures.webhooks = () => {
    const counts = { active: 0, paused: 0, disabled: 0 };
    for (const state of states.values()) counts[state]++;
    return counts;
  };
  figures.oldestWaitingAt = () => {
    let oldest: number | undefined;
    for (const { waitingSince } of workers.values())
      if (waitingSince !== undefined && !(oldest !== undefined && oldest <= waitingSince))
        oldest = waitingSince;
    return oldest;
  };
  const onError = (err: unknown) =>
    log.warn({ err }, 'Webhooks could not be read; this is retried in 20 seconds.');
  const lookNow = () => void looking.run().catch(onError);
  const onChange = (topic: string) => {
    const [kind, id] = topic.split('/');
    if (id === undefined) isAllDue = true;
    else if (kind === 'webhooks') changed.add(id);
    else return;
    lookNow();
  };
  const lookAtAll = () => {
    isAllDue = true;
    return looking.run();
  };
  const stopWatching = [noticeLog.watch(lookNow), store.watch('*', onChange)];
  const stopJob = startPeriodicJob(clock, intervalMs, lookAtAll, onError);
  lookNow();
  return async () => {
    stopping.abort();
    for (const stop of stopWatching) stop();
    await stopJob();
    await looking.idle();
    for (const worker of [...workers.values()]) drop(worker);
    await queue.clear();
    figures.stopWatching();
  };
}
