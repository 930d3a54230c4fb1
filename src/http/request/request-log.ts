import { secondMs } from '../../domain/clock.ts';
import type { ClientInfo } from '../../service/context.ts';
import type { AppOptions } from '../app-options.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import { asSignageError, type ProblemParts, problemParts } from '../problem.ts';
import { makeAddressOf, type Peer } from './client-address.ts';
import { requestIdOf } from './request-context.ts';

/** One request, from its arrival to its answer. */
export interface LoggedRequest {
  startMs: number;
  origin: ClientInfo & { requestId: string };
}

/** Headers that all answers have, beside their `X-Request-Id`. */
export const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

type VisitOptions = Pick<AppOptions, 'newId' | 'clock' | 'trustedProxies' | 'metrics' | 'log'>;

/** Gives each request its id and origin, counts and logs it, never with its path: whichever way it takes. */
export function makeRequestLog({ newId, clock, trustedProxies, metrics, log }: VisitOptions) {
  const addressOf = makeAddressOf(trustedProxies);
  return {
    /** `requestId` is the caller's, if it sent one. */
    begin(requestId: string | null | undefined, peer: Peer | undefined): LoggedRequest {
      const startMs = clock.now();
      return {
        startMs,
        origin: { requestId: requestIdOf(requestId, newId, startMs), address: addressOf(peer) },
      };
    },

    /** The answer to a thrown thing; the log is told of what is ours to mend. */
    fail(
      { requestId }: LoggedRequest['origin'],
      operation: MeteredOperation,
      thrown: unknown,
    ): ProblemParts {
      const error = asSignageError(thrown);
      const answer = problemParts(error, requestId);
      const told = { requestId, operation, code: error.code, err: error.cause };
      if (answer.status === 500) log.error(told, error.message);
      else if (answer.status === 503) log.warn(told, error.message);
      return answer;
    },

    end(
      { startMs, origin: { requestId, address } }: LoggedRequest,
      operation: MeteredOperation,
      status: number,
    ): void {
      const ms = clock.now() - startMs;
      metrics.observe(operation, status, ms / secondMs);
      log.debug({ requestId, operation, status, ms, address }, 'request');
    },
  };
}

export type RequestLog = ReturnType<typeof makeRequestLog>;
