import { secondMs } from '../../domain/clock.ts';
import type { IdSource } from '../../domain/id.ts';
import type { ClientInfo } from '../../service/context.ts';
import type { AppOptions } from '../app-options.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import { asSignageError, type ProblemParts, problemParts } from '../problem.ts';
import { makeAddressOf, type Peer } from './client-address.ts';

/** A request in progress. */
export interface LoggedRequest {
  startMs: number;
  client: ClientInfo & { requestId: string };
}

/** Headers of all responses, in addition to `X-Request-Id`. */
export const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the caller's request id if it is well-formed, else a new one. */
export function requestIdOf(
  given: string | null | undefined,
  newId: IdSource,
  nowMs?: number,
): string {
  return given != null && requestIdForm.test(given) ? given : newId(nowMs);
}

type RequestLogOptions = Pick<AppOptions, 'newId' | 'clock' | 'trustedProxies' | 'metrics' | 'log'>;

/**
 * Assigns each request its id and client info. Counts and logs each request, but never logs its
 * path.
 */
export function makeRequestLog({ newId, clock, trustedProxies, metrics, log }: RequestLogOptions) {
  const addressOf = makeAddressOf(trustedProxies);
  return {
    /** `requestId` is the one that the caller sent, if any. */
    begin(requestId: string | null | undefined, peer: Peer | undefined): LoggedRequest {
      const startMs = clock.now();
      return {
        startMs,
        client: { requestId: requestIdOf(requestId, newId, startMs), address: addressOf(peer) },
      };
    },

    /** Returns the response for a thrown value. Logs statuses 500 and 503. */
    fail(
      { requestId }: LoggedRequest['client'],
      operation: MeteredOperation,
      thrown: unknown,
    ): ProblemParts {
      const error = asSignageError(thrown);
      const answer = problemParts(error, requestId);
      const fields = { requestId, operation, code: error.code, err: error.cause };
      if (answer.status === 500) log.error(fields, error.message);
      else if (answer.status === 503) log.warn(fields, error.message);
      return answer;
    },

    /** `isHeld`: the request was a long poll. */
    end(
      { startMs, client: { requestId, address } }: LoggedRequest,
      operation: MeteredOperation,
      status: number,
      isHeld = false,
    ): void {
      const ms = clock.now() - startMs;
      if (isHeld) metrics.observeHeld(operation, status);
      else metrics.observe(operation, status, ms / secondMs);
      log.debug({ requestId, operation, status, ms, address }, 'request');
    },
  };
}

export type RequestLog = ReturnType<typeof makeRequestLog>;
