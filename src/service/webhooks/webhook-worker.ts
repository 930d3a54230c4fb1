import { isDeepStrictEqual } from 'node:util';
import { secondMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import type { Notice } from '../../domain/notices/rows.ts';
import type { Token } from '../../domain/records/rows.ts';
import type { FairQueue } from '../../domain/turns/fair-queue.ts';
import { dueAt, verdictOf } from '../../domain/webhooks/retry.ts';
import type { Webhook } from '../../domain/webhooks/rows.ts';
import { webhookMessage } from '../../domain/webhooks/signature.ts';
import type { WebhookSender } from '../../network/webhook-sender.ts';
import { confirmedTime } from '../confirmed-time.ts';
import type { SystemDependencies } from '../context.ts';
import type { NoticeFigures } from '../notices/notice-figures.ts';
import { type NoticeLog, noticeId } from '../notices/notice-log.ts';
import { noticeView } from '../notices/notices.ts';
import { sendMessage, wantsNotice } from './message.ts';
import { settleAttempt, stopWebhook } from './settle.ts';

const retryMs = 20 * secondMs;

export interface DeliveryParts {
  noticeLog: NoticeLog;
  noticeFigures: NoticeFigures;
  sender: WebhookSender;
  log: LogSink;
}

/** What the workers of a service share. */
export interface WorkerParts extends DeliveryParts {
  deps: SystemDependencies;
  queue: FairQueue;
  stopping: AbortSignal;
}

const isAlive = (token: Token | undefined, nowMs: number): boolean =>
  token !== undefined && (token.expiresAt === null || token.expiresAt > nowMs);

/**
 * Pauses a webhook whose token is gone. Returns whether it is. A token that a jump of the clock
 * seems to have ended does not work meanwhile, but pauses nothing.
 */
export async function pauseIfTokenGone(
  deps: SystemDependencies,
  { id, tokenId }: Webhook,
): Promise<boolean> {
  const { store, clock } = deps;
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

/** Delivers notices to one webhook: one attempt at a time, of the oldest notice that waits. */
export class WebhookWorker {
  /** Time of the oldest notice that waits, as far as it is known. */
  waitingSince: number | undefined;
  readonly #parts: WorkerParts;
  #webhook: Webhook;
  #isBusy = false;
  /** Whether there is more to do since the last step began. */
  #isAgain = false;
  #isDropped = false;
  #cancelTimer = () => {};

  constructor(parts: WorkerParts, webhook: Webhook) {
    this.#parts = parts;
    this.#webhook = webhook;
  }

  /** Goes on with the changed row of the webhook. */
  update(webhook: Webhook): void {
    if (isDeepStrictEqual(this.#webhook, webhook)) return;
    this.#webhook = webhook;
    this.wake();
  }

  /** Takes the first of the new notices that the webhook wants. */
  offer(notices: readonly Notice[]): void {
    const wanted = notices.find((notice) => wantsNotice(this.#webhook, notice));
    if (!wanted) return;
    this.waitingSince ??= wanted.at;
    this.wake();
  }

  drop(): void {
    this.#isDropped = true;
    this.#cancelTimer();
  }

  /** Makes an attempt as soon as its turn comes. */
  wake(): void {
    const { queue, stopping } = this.#parts;
    this.#isAgain = true;
    if (this.#isBusy || stopping.aborted) return;
    this.#cancelTimer();
    this.#isBusy = true;
    queue.add(this.#webhook.tenantId, () => this.#run());
  }

  async #run(): Promise<void> {
    const { stopping, log, deps } = this.#parts;
    this.#isAgain = false;
    let nextAt: number | undefined;
    try {
      nextAt = await this.#step();
    } catch (err) {
      if (!stopping.aborted)
        log.warn(
          { err, webhook: this.#webhook.id },
          'A webhook could not be delivered; this is retried in 20 seconds.',
        );
      nextAt = deps.clock.now() + retryMs;
    }
    this.#isBusy = false;
    if (stopping.aborted || this.#isDropped) return;
    const delayMs = this.#isAgain ? 0 : (nextAt ?? Number.POSITIVE_INFINITY) - deps.clock.now();
    if (delayMs <= 0) this.wake();
    else if (delayMs < Number.POSITIVE_INFINITY)
      this.#cancelTimer = deps.clock.after(delayMs, () => this.wake());
  }

  /** Makes at most one attempt. Returns the time of the next one. `undefined`: nothing waits. */
  async #step(): Promise<number | undefined> {
    const { deps, sender, stopping, noticeFigures } = this.#parts;
    const { store, clock } = deps;
    const { id } = this.#webhook;
    const webhook = await store.read.get('webhooks', id);
    if (webhook?.state !== 'active' || (await pauseIfTokenGone(deps, webhook))) return undefined;
    const next = await this.#nextOf(webhook);
    this.waitingSince = next?.notice.at;
    if (!next || next.at > clock.now()) return next?.at;
    const noticed = noticeId(next.notice);
    const message = webhookMessage(noticeView(next.notice));
    const outcome = await sendMessage(deps, sender, webhook, noticed, message, {
      signal: stopping,
    });
    // A stopped attempt is no failure of the receiver.
    if (stopping.aborted && outcome.status === null) return undefined;
    noticeFigures.attempts[verdictOf(outcome.status)]++;
    await store.write((tx) => settleAttempt(deps, tx, id, noticed, outcome));
    return clock.now();
  }

  /** Returns the oldest notice that waits for a webhook, and the time of its next attempt. */
  async #nextOf(webhook: Webhook): Promise<{ notice: Notice; at: number } | undefined> {
    const { deps, noticeLog } = this.#parts;
    const { store, clock } = deps;
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
}
