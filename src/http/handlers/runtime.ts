import { batchSums } from '../../domain/events/batch-counts.ts';
import type { Services } from '../../service/services.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Handlers } from '../request/pipeline.ts';
import { idempotencyKey } from '../request/validate.ts';
import { runtimeReplies } from './runtime-replies.ts';

type RuntimeHandlers = Pick<
  Handlers,
  'registerDevice' | 'rotateDeviceKey' | 'getPlaylist' | 'getDeviceConfig' | 'postEvents'
>;

const secretKey = /^[\x21-\x7e]{16,255}$/;
const secretRule = 'must be 16 to 255 visible ASCII characters, random, such as a UUID';

/** Handlers of the TV API (docs/protocol.md §2, §3). */
export function runtimeHandlers(
  services: Services,
  metrics: Pick<Metrics, 'registration' | 'eventsReceived'>,
): RuntimeHandlers {
  const { register, rotateKey } = services;
  const replies = runtimeReplies(services, metrics);
  return {
    async registerDevice({ body, context }) {
      const key = idempotencyKey(context.req.header('idempotency-key'), secretKey, secretRule);
      const { answer, repeated } = await register({
        ...context.var.client,
        body,
        idempotencyKey: key,
      });
      metrics.registration(repeated ? 'repeated' : 'bound');
      return { body: answer, headers: { 'Cache-Control': 'no-store' } };
    },

    async rotateDeviceKey({ caller, context }) {
      const key = idempotencyKey(context.req.header('idempotency-key'), secretKey, secretRule);
      return { body: await rotateKey(caller, key), headers: { 'Cache-Control': 'no-store' } };
    },

    getPlaylist: async ({ caller, context }) =>
      replies.playlist(caller, context.req.header('if-none-match')),
    getDeviceConfig: async ({ caller, context }) =>
      replies.config(caller, context.req.header('if-none-match')),
    postEvents: ({ caller, body, sent, context }) =>
      replies.events(caller, batchSums(body), sent, context.req.header('idempotency-key')),
  };
}
