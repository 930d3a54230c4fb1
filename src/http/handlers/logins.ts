import { bearerToken } from '../../domain/api-key.ts';
import type { Services } from '../../service/assembly/services.ts';
import { makeLongPollReply } from '../request/held.ts';
import type { Handlers } from '../request/pipeline.ts';
import type { RequestContext } from '../request/request-context.ts';
import { secretIdempotencyKey } from '../request/validate.ts';
import { done, idempotentRequest, result } from './replies.ts';

const secretOf = (request: RequestContext) =>
  bearerToken(request.header('authorization') ?? '') ?? '';

/** Handlers of login requests (docs/protocol.md §5.20). `stopping` ends long polls. */
export function loginHandlers({ logins, loginApprovals }: Services, stopping: AbortSignal) {
  const longPollReply = makeLongPollReply(stopping);
  return {
    createLogin: ({ body, request }) =>
      result(logins.create(body, request.client.address, secretIdempotencyKey(request))),
    getLoginStatus: ({ id, query, request }) =>
      longPollReply(request, query, (signal) =>
        logins.status(id, secretOf(request), query.waitSeconds, signal),
      ),
    endLogin: ({ id, request }) => done(logins.end(id, secretOf(request), request.client)),
    getLogin: ({ principal, id }) => result(loginApprovals.get(principal, id)),
    async approveLogin(call) {
      const { principal, id, body: wanted } = call;
      const request = idempotentRequest('approveLogin', call);
      const body = await loginApprovals.approve(principal, id, wanted, request);
      return { body, headers: { Location: `/v1/tokens/${body.id}` } };
    },
  } satisfies Partial<Handlers>;
}
