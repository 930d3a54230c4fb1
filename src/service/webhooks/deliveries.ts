import { iso, isoOrNull } from '../../domain/clock.ts';
import { invalid } from '../../domain/error.ts';
import type { Notice } from '../../domain/notices/rows.ts';
import type { Page } from '../../domain/paging.ts';
import type { Webhook, WebhookCursor, WebhookDelivery } from '../../domain/webhooks/rows.ts';
import type {
  Redelivery,
  WebhookDeliveriesQuery,
  WebhookDeliveryView,
} from '../../domain/webhooks/webhook.ts';
import { type Reader, type Store, slicesOf } from '../../store/store.ts';
import { type Principal, recordChange, type ServiceDependencies } from '../context.ts';
import { lookUp } from '../lookup.ts';
import { type NoticeLog, noticeId } from '../notices/notice-log.ts';
import { afterId } from '../paging.ts';
import { wantsNotice } from './message.ts';
import { webhookChange } from './webhooks.ts';

/** Maximum number of notices that one request queues. */
const maxQueued = 1000;
const pageSize = 200;

export const deliveryId = (webhookId: string, notice: string) => `${webhookId}/${notice}`;

/** Each webhook has a cursor. */
const cursorOf = async (reader: Pick<Reader, 'get'>, { id }: Webhook) =>
  (await reader.get('webhookCursors', id)) as WebhookCursor;

/** Deletes the rows of deliveries whose notice is older than `timeMs`. */
export async function purgeDeliveries(store: Store, timeMs: number): Promise<void> {
  const firstKept = noticeId({ at: timeMs, seq: 0 });
  for await (const webhooks of slicesOf(store, 'webhooks', { limit: pageSize }))
    for (const { id } of webhooks) {
      const rows = await store.read.select('webhookDeliveries', 'webhookId', [id]);
      const old = rows.filter(({ noticeId: noticed }) => noticed < firstKept);
      for (let first = 0; first < old.length; first += maxQueued)
        await store.write(async (tx) => {
          for (const row of old.slice(first, first + maxQueued))
            await tx.delete('webhookDeliveries', row.id);
        });
    }
}

/**
 * Deliveries of webhooks. A delivery is a notice in the log: before the cursor of the webhook it
 * was delivered, after it it waits. Only failures have a row (docs/protocol.md §5.17).
 */
export function makeWebhookDeliveries(deps: ServiceDependencies, log: NoticeLog) {
  const { store } = deps;

  async function list(
    principal: Principal,
    id: string,
    { cursor, limit, state }: WebhookDeliveriesQuery,
  ): Promise<Page<WebhookDeliveryView>> {
    const webhook = await lookUp(store.read, principal, 'webhook', id);
    const progress = await cursorOf(store.read, webhook);
    const rows = await store.read.select('webhookDeliveries', 'webhookId', [webhook.id]);
    const failures = new Map(rows.map((row) => [row.noticeId, row]));
    const stateOf = (notice: string) => {
      const isPassed = notice <= progress.after;
      return failures.get(notice)?.state ?? (isPassed ? 'delivered' : 'pending');
    };
    const matches = (notice: Notice) => {
      if (!wantsNotice(webhook, notice)) return false;
      const noticed = noticeId(notice);
      if (notice.at < webhook.createdAt && !failures.has(noticed)) return false;
      return state === undefined || stateOf(noticed) === state;
    };
    const page = await log.page({ order: 'desc', limit, matches, ...afterId(cursor) });
    const view = (notice: Notice): WebhookDeliveryView => {
      const noticed = noticeId(notice);
      const { attempts = [], nextAt } = failures.get(noticed) ?? ({} as Partial<WebhookDelivery>);
      return {
        noticeId: noticed,
        type: notice.type,
        state: stateOf(noticed),
        attempts: attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
        nextAt: isoOrNull(nextAt),
      };
    };
    return { items: page.items.map(view), nextCursor: page.next };
  }

  /** Returns the ids of the named notices that the webhook gets. Throws `invalid_request`. */
  async function named(
    webhook: Webhook,
    { noticeIds, from, to }: Redelivery,
  ): Promise<readonly string[]> {
    const matches = (notice: Notice) => wantsNotice(webhook, notice);
    if (noticeIds) {
      const notices = await Promise.all([...new Set(noticeIds)].map((id) => log.get(id)));
      return notices
        .filter((notice) => notice !== undefined)
        .filter(matches)
        .map(noticeId);
    }
    const ids: string[] = [];
    for (let after: string | undefined; ; ) {
      const range = { order: 'asc', limit: pageSize, from, to, after, matches } as const;
      const { items, next } = await log.page(range);
      for (const notice of items) ids.push(noticeId(notice));
      if (ids.length > maxQueued)
        throw invalid([
          { path: '/to', message: `the range has more than ${maxQueued} notices: shorten it` },
        ]);
      if (next === null) return ids;
      after = next;
    }
  }

  /** Queues notices again. Those after the cursor wait anyway, and are not counted. */
  async function redeliver(
    principal: Principal,
    id: string,
    wanted: Redelivery,
  ): Promise<{ queued: number }> {
    const webhook = await lookUp(store.read, principal, 'webhook', id);
    const ids = await named(webhook, wanted);
    return deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'webhook', id);
      const { after } = await cursorOf(tx, row);
      const queued = ids.filter((noticed) => noticed <= after);
      for (const noticed of queued)
        await tx.put('webhookDeliveries', {
          id: deliveryId(row.id, noticed),
          webhookId: row.id,
          noticeId: noticed,
          pendingOf: row.id,
          state: 'pending',
          attempts: [],
          nextAt: tx.now,
        });
      await tx.put('webhooks', { ...row, redeliveries: row.redeliveries + 1 });
      const change = webhookChange('redeliver', row);
      await recordChange(deps, tx, principal, {
        ...change,
        details: { ...change.details, queued: queued.length },
      });
      return { queued: queued.length };
    });
  }

  return { list, redeliver };
}
