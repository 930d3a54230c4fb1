import type { Clock } from '../../domain/clock.ts';
import { isBetween } from '../../domain/clock.ts';
import type { Notice } from '../../domain/notices/rows.ts';
import type { Webhook } from '../../domain/webhooks/rows.ts';
import {
  deriveWebhookSecret,
  signMessage,
  type WebhookMessage,
} from '../../domain/webhooks/signature.ts';
import { matchesType } from '../../domain/webhooks/webhook.ts';
import type { Sending, SendOutcome, WebhookSender } from '../../network/webhook-sender.ts';
import type { Store } from '../../store/store.ts';
import { retiringMs } from '../auth/authority.ts';
import { maySeeNotice } from '../notices/notices.ts';

export const currentSecret = (
  serverSecret: Uint8Array,
  { id, generation }: Pick<Webhook, 'id' | 'generation'>,
): string => deriveWebhookSecret(serverSecret, id, generation);

/** Whether a webhook gets a notice. */
export function wantsNotice(webhook: Webhook, notice: Notice): boolean {
  const { tenantId, venueIds, types } = webhook;
  return (
    maySeeNotice({ tenantId, venueIds, role: 'admin' }, notice) && matchesType(notice.type, types)
  );
}

/** Signs a message with the secrets of a webhook, and sends it once. */
export function sendMessage(
  { store, clock }: { store: Pick<Store, 'secret'>; clock: Clock },
  sender: WebhookSender,
  webhook: Webhook,
  id: string,
  message: WebhookMessage,
  more: Pick<Sending, 'keepsText' | 'signal'>,
): Promise<SendOutcome> {
  const { retiring } = webhook;
  const nowMs = clock.now();
  const secrets = [currentSecret(store.secret, webhook)];
  if (retiring && isBetween(nowMs, retiring.until - retiringMs, retiring.until))
    secrets.push(deriveWebhookSecret(store.secret, webhook.id, retiring.generation));
  const signed = signMessage(id, message, secrets, nowMs);
  return sender.send(new URL(webhook.url), { ...signed, ...more });
}
