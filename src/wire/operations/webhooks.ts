import { accept, create, get, type Operation, patch, post, remove } from '../operation.ts';

/** Webhooks and their deliveries (docs/protocol.md §5.17). */
export const webhookOperations = {
  createWebhook: create('/v1/webhooks', 'admin', {
    summary: 'Create a webhook; only this answer contains its secret',
    revision: true,
    headers: ['Idempotency-Key'],
    body: 'webhookCreation',
    answer: 'createdWebhook',
    errors: ['address_refused', 'venue_not_found'],
    command: ['webhook', 'create'],
  }),
  listWebhooks: get('/v1/webhooks', 'admin', {
    summary: 'List webhooks',
    query: 'webhookQuery',
    answer: 'webhookList',
    command: ['webhook', 'list'],
  }),
  getWebhook: get('/v1/webhooks/:id', 'admin', {
    summary: 'Get a webhook',
    revision: true,
    record: 'webhook',
    answer: 'webhook',
    command: ['webhook', 'get'],
  }),
  updateWebhook: patch('/v1/webhooks/:id', 'admin', {
    summary: 'Change, pause or activate a webhook',
    revision: true,
    record: 'webhook',
    body: 'webhookPatch',
    answer: 'webhook',
    errors: ['address_refused', 'venue_not_found'],
    command: ['webhook', 'update'],
  }),
  deleteWebhook: remove('/v1/webhooks/:id', 'admin', {
    summary: 'Delete a webhook',
    revision: true,
    record: 'webhook',
    command: ['webhook', 'delete'],
  }),
  rotateWebhookSecret: post('/v1/webhooks/:id/secret', 'admin', {
    summary: 'Give a webhook a new secret; the old one also signs for 24 hours',
    record: 'webhook',
    answer: 'webhookSecret',
    command: ['webhook', 'secret'],
  }),
  testWebhook: post('/v1/webhooks/:id/test', 'admin', {
    summary: 'Send a test message now, and show what the receiver answers',
    record: 'webhook',
    answer: 'webhookTest',
    command: ['webhook', 'test'],
  }),
  listWebhookDeliveries: get('/v1/webhooks/:id/deliveries', 'admin', {
    summary: 'List the deliveries of a webhook, newest first',
    record: 'webhook',
    query: 'webhookDeliveriesQuery',
    answer: 'webhookDeliveryList',
    command: ['webhook', 'deliveries'],
  }),
  redeliver: accept('/v1/webhooks/:id/redeliver', 'admin', {
    summary: 'Send notices again',
    record: 'webhook',
    body: 'redelivery',
    answer: 'redelivered',
    command: ['webhook', 'redeliver'],
  }),
} satisfies Record<string, Operation>;
