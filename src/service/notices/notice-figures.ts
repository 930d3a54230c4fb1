import { type NoticeType, noticeTypes } from '../../domain/notices/notice-types.ts';
import type { DeliveryVerdict } from '../../domain/webhooks/retry.ts';
import type { Webhook } from '../../domain/webhooks/rows.ts';

const noWebhooks = () => ({ active: 0, paused: 0, disabled: 0 });

/**
 * Figures of notices and webhooks, for metrics. Of several instances, only the one that watches
 * counts; the gauges of the others are 0.
 */
export class NoticeFigures {
  /** Notices that this instance has appended to the log. */
  readonly notices: Record<NoticeType, number> = Object.fromEntries(
    noticeTypes.map((type) => [type, 0]),
  ) as Record<NoticeType, number>;
  /** Attempts to deliver a notice to a webhook. */
  readonly attempts: Record<DeliveryVerdict, number> = {
    delivered: 0,
    retry: 0,
    refused: 0,
    gone: 0,
  };
  /** Bad conditions that were told and have not recovered. */
  openAlarms = { screen: 0, venue: 0 };
  webhooks: () => Record<Webhook['state'], number> = noWebhooks;
  /** Returns the time of the oldest notice that waits for an active webhook. */
  oldestWaitingAt: () => number | undefined = () => undefined;

  /** Resets the gauges, when this instance no longer watches. */
  stopWatching(): void {
    this.openAlarms = { screen: 0, venue: 0 };
    this.webhooks = noWebhooks;
    this.oldestWaitingAt = () => undefined;
  }
}
