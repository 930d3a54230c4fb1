import { disableAfterMs, nextAttemptAt, verdictOf } from '../../domain/webhooks/retry.ts';
import type { Webhook, WebhookCursor, WebhookDelivery } from '../../domain/webhooks/rows.ts';
import type { SendOutcome } from '../../network/webhook-sender.ts';
import type { Tx } from '../../store/store.ts';
import { confirmedTime } from '../confirmed-time.ts';
import { bySystem, recordChange, type SystemDependencies } from '../context.ts';
import { putNotice } from '../notices/outbox.ts';
import { deliveryId } from './deliveries.ts';
import { webhookChange } from './webhooks.ts';

type Deps = Pick<SystemDependencies, 'newId' | 'random'>;

const reasons = {
  token_gone: 'The token that the webhook acts for was deleted or has expired.',
  gone: 'The receiver answered 410: it wants no more messages.',
  failing: 'The receiver has accepted nothing for 5 days.',
};

/** Pauses or disables an active webhook, and tells it by a notice. */
export async function stopWebhook(
  deps: Deps,
  tx: Tx,
  webhook: Webhook,
  why: keyof typeof reasons,
): Promise<void> {
  const verb = why === 'token_gone' ? 'pause' : 'disable';
  const state = why === 'token_gone' ? 'paused' : 'disabled';
  const row: Webhook = { ...webhook, state, stateReason: reasons[why], updatedAt: tx.stamp };
  await tx.put('webhooks', row);
  await recordChange(deps, tx, bySystem, webhookChange(verb, row));
  const { id, tenantId, name } = row;
  await putNotice(deps, tx, {
    type: `webhook.${state}`,
    tenantId,
    data: { webhookId: id, webhook: name, reason: reasons[why] },
  });
}

/** Describes the end of an attempt by the rows of the delivery and of its webhook. */
function afterAttempt(
  before: WebhookDelivery,
  { status, ms, error, retryAfter }: SendOutcome,
  nowMs: number,
  deps: Deps,
): WebhookDelivery {
  const attempts = [...before.attempts, { at: nowMs, status, ms, error }];
  const verdict = verdictOf(status);
  const next =
    verdict === 'retry'
      ? nextAttemptAt(attempts.length, retryAfter, nowMs, deps.random)
      : undefined;
  if (verdict === 'gone' || next !== undefined)
    return { ...before, attempts, state: 'pending', nextAt: next ?? null };
  const state = verdict === 'delivered' ? 'delivered' : 'dead';
  return { ...before, attempts, state, pendingOf: null, nextAt: null };
}

/** A jump of the clock alone does not end the time in which the receiver may come back. */
async function isFailingTooLong(tx: Tx, { failingSince }: WebhookCursor): Promise<boolean> {
  if (failingSince === null || tx.now - failingSince < disableAfterMs) return false;
  return (await confirmedTime(tx, tx.now)) - failingSince >= disableAfterMs;
}

/**
 * Stores the outcome of an attempt, in one change: the delivery, the progress of the webhook, and
 * whether it is disabled.
 */
export async function settleAttempt(
  deps: Deps,
  tx: Tx,
  webhookId: string,
  noticeId: string,
  outcome: SendOutcome,
): Promise<void> {
  const webhook = await tx.get('webhooks', webhookId);
  const cursor = await tx.get('webhookCursors', webhookId);
  if (!webhook || !cursor) return;
  const id = deliveryId(webhookId, noticeId);
  const known = await tx.get('webhookDeliveries', id);
  const fresh = { id, webhookId, noticeId, pendingOf: webhookId, attempts: [], nextAt: null };
  const row = afterAttempt(known ?? { ...fresh, state: 'pending' }, outcome, tx.now, deps);
  const isDelivered = row.state === 'delivered';
  // A delivery that never failed needs no row.
  if (known || !isDelivered) await tx.put('webhookDeliveries', row);
  const progress: WebhookCursor = {
    ...cursor,
    after: row.state !== 'pending' && noticeId > cursor.after ? noticeId : cursor.after,
    failingSince: isDelivered ? null : Math.min(cursor.failingSince ?? tx.now, tx.now),
  };
  await tx.put('webhookCursors', progress);
  if (webhook.state !== 'active') return;
  if (verdictOf(outcome.status) === 'gone') await stopWebhook(deps, tx, webhook, 'gone');
  else if (await isFailingTooLong(tx, progress)) await stopWebhook(deps, tx, webhook, 'failing');
}
