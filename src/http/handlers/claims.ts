import { bearerToken } from '../../domain/api-key.ts';
import type { Services } from '../../service/assembly/services.ts';
import { makeLongPollReply } from '../request/held.ts';
import { type Handlers, noStore } from '../request/pipeline.ts';
import { secretIdempotencyKey } from '../request/validate.ts';
import { codePath } from './management.ts';
import { idempotentRequest } from './replies.ts';

/** Handlers of claims (docs/protocol.md §3.6). `stopping` ends long polls. */
export function claimHandlers({ claims, claimOffers }: Services, stopping: AbortSignal) {
  const longPollReply = makeLongPollReply(stopping);
  return {
    async createClaim({ body, request }) {
      const { address } = request.client;
      const idempotencyKey = secretIdempotencyKey(request);
      return { body: await claims.create({ address, body, idempotencyKey }), headers: noStore };
    },
    async getClaimStatus({ id, query, request }) {
      const token = bearerToken(request.header('authorization') ?? '');
      const reply = await longPollReply(request, query, (signal) =>
        claims.status(id, token, query.waitSeconds, signal),
      );
      return { ...reply, headers: noStore };
    },
    async getClaim({ principal, id }) {
      return { body: await claimOffers.get(principal, id) };
    },
    async offerClaim(call) {
      const { principal, id, body: wanted } = call;
      const request = idempotentRequest('offerClaim', call);
      const body = await claimOffers.offer(principal, id, wanted, request);
      return { body, headers: { Location: codePath(body.code), ...noStore } };
    },
  } satisfies Partial<Handlers>;
}
