import { createHmac } from 'node:crypto';
import type { Random } from '../clock.ts';
import type { NoticeView } from '../notices/notice.ts';

/** What a webhook sends: type, ISO 8601 time, and data. */
export interface WebhookMessage {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

const prefix = 'whsec_';
const secretBytes = 24;

export function makeWebhookSecret(random: Random): string {
  return prefix + Buffer.from(random(secretBytes)).toString('base64');
}

/**
 * Derives the secret of a webhook from the secret of the service, so that none is stored. Returns
 * `whsec_` and base64.
 */
export function deriveWebhookSecret(
  serverSecret: Uint8Array,
  webhookId: string,
  generation: number,
): string {
  const text = `webhook-secret\n${webhookId}\n${generation}`;
  return prefix + createHmac('sha256', serverSecret).update(text).digest('base64');
}

export function webhookMessage({
  at,
  type,
  venueId,
  screenId,
  deviceId,
  data,
}: Omit<NoticeView, 'id'>): WebhookMessage {
  return { type, timestamp: at, data: { venueId, screenId, deviceId, ...data } };
}

/**
 * Returns the body and headers of a message by Standard Webhooks 1.0. Each secret makes one
 * signature.
 *
 * @param sentAtMs time of this attempt, in epoch milliseconds
 */
export function signMessage(
  id: string,
  message: WebhookMessage,
  secrets: readonly string[],
  sentAtMs: number,
) {
  const body = Buffer.from(JSON.stringify(message));
  const timestamp = String(Math.floor(sentAtMs / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
    return `v1,${mac.digest('base64')}`;
  });
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'signage-webhook/1',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
  };
}
