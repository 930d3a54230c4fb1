import { bearerToken } from '../../domain/api-key.ts';
import type { Services } from '../../service/assembly/services.ts';
import { makeLongPollReply } from '../request/held.ts';
import { type Handlers, noStore } from '../request/pipeline.ts';
import { secretIdempotencyKey } from '../request/validate.ts';
import { codePath } from './management.ts';
import { done, idempotentRequest, result } from './replies.ts';

/** Handlers of claims and tickets (docs/protocol.md §3.6, §3.7). `stopping` ends long polls. */
export function claimHandlers({ claims, claimOffers, tickets }: Services, stopping: AbortSignal) {
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
    listClaims: ({ principal, query, slot }) =>
      result(claimOffers.list(principal, query, slot?.signal)),
    async getClaim({ principal, id }) {
      return { body: await claimOffers.get(principal, id) };
    },
    async offerClaim(call) {
      const { principal, id, body: wanted } = call;
      const request = idempotentRequest('offerClaim', call);
      const body = await claimOffers.offer(principal, id, wanted, request);
      return { body, headers: { Location: codePath(body.code), ...noStore } };
    },
    async createTicket(call) {
      const request = idempotentRequest('createTicket', call);
      const body = await tickets.create(call.principal, call.body, request);
      return { body, headers: { Location: `/v1/tickets/${body.id}`, ...noStore } };
    },
    getTicket: ({ principal, id }) => result(tickets.get(principal, id)),
    listTickets: ({ principal, query, slot }) =>
      result(tickets.list(principal, query, slot?.signal)),
    revokeTicket: ({ principal, id }) => done(tickets.revoke(principal, id)),
  } satisfies Partial<Handlers>;
}
