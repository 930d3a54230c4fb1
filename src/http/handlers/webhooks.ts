import { revision } from '../../domain/etags/etag.ts';
import type { Services } from '../../service/assembly/services.ts';
import { type Handlers, noStore } from '../request/pipeline.ts';
import { created, done, idempotentRequest, result, revised } from './replies.ts';

/** Handlers of webhooks (docs/protocol.md §5.17). */
export function webhookHandlers({ webhooks, webhookDeliveries }: Services) {
  return {
    async createWebhook(call) {
      const request = idempotentRequest('createWebhook', call);
      const work = webhooks.create(call.principal, call.body, request);
      const reply = await created('webhooks', revision.webhook, work);
      return { ...reply, headers: { ...reply.headers, ...noStore } };
    },
    listWebhooks: ({ principal, query, slot }) =>
      result(webhooks.list(principal, query, slot?.signal)),
    getWebhook: ({ principal, id }) => revised(revision.webhook, webhooks.get(principal, id)),
    updateWebhook: ({ principal, id, body, precondition }) =>
      revised(revision.webhook, webhooks.update(principal, id, body, precondition)),
    deleteWebhook: ({ principal, id, precondition }) =>
      done(webhooks.remove(principal, id, precondition)),
    rotateWebhookSecret: async ({ principal, id }) => ({
      body: await webhooks.rotateSecret(principal, id),
      headers: noStore,
    }),
    testWebhook: ({ principal, id }) => result(webhooks.test(principal, id)),
    listWebhookDeliveries: ({ principal, id, query }) =>
      result(webhookDeliveries.list(principal, id, query)),
    redeliver: ({ principal, id, body }) =>
      result(webhookDeliveries.redeliver(principal, id, body)),
  } satisfies Partial<Handlers>;
}
