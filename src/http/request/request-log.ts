import { maskSecrets } from '../../domain/api-key.ts';
import { type Clock, secondMs } from '../../domain/clock.ts';
import type { IdSource } from '../../domain/id.ts';
import { maskCodes } from '../../domain/typed-code.ts';
import type { RecentRequest } from '../../service/requests/recent-requests.ts';
import type { MeteredOperation } from '../metrics/metrics.ts';
import type { AppOptions } from './app-options.ts';
import { makeAddressOf, type Peer } from './client-address.ts';
import { clientLeftStatus } from './http-response.ts';
import { asSignageError, type ProblemParts, problemParts } from './problem.ts';
import type { RequestClient } from './request-context.ts';

/** A request in progress. */
export interface LoggedRequest {
  startMs: number;
  client: RequestClient;
}

/** Headers of all responses, in addition to `X-Request-Id`. */
export const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // A response that a browser shows as a page must not have the origin of the web player, where the
  // device key is stored. The pages of the service have a policy of their own.
  'Content-Security-Policy': 'sandbox',
};

/**
 * Returns a function that returns the `Date` header (RFC 9110 §6.6.1): the time by which the
 * service decides, which TVs go by. Formatted once a second.
 */
export function makeDateHeader(clock: Pick<Clock, 'now'>): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const current = Math.floor(clock.now() / secondMs);
    if (current === second) return text;
    second = current;
    text = new Date(current * secondMs).toUTCString();
    return text;
  };
}

/** Returns whether a text has nothing of the form of a secret, a pairing code or a claim. */
const hasNoSecret = (text: string) => maskSecrets(text) === text && maskCodes(text) === text;
const maskQuoted = (quoted: string) => `"${maskCodes(quoted.slice(1, -1))}"`;
/** Masks codes in the texts of a caller that a problem quotes. */
const withoutCodes = (detail: string) => detail.replaceAll(/"[^"]*"/g, maskQuoted);

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Returns the caller's request id if it is well-formed and does not look like a secret, otherwise a
 * new id.
 */
export function requestIdOf(
  given: string | null | undefined,
  newId: IdSource,
  nowMs?: number,
): string {
  const isUsable = given != null && requestIdForm.test(given) && hasNoSecret(given);
  return isUsable ? given : newId(nowMs);
}

const noFaults: readonly string[] = [];

/** Returns the entry of an answered request in the log for operators. */
function recentRequest(
  { requestId, problem, faults = noFaults }: RequestClient,
  operation: MeteredOperation,
  status: number,
  at: number,
): RecentRequest {
  const code = problem?.code ?? null;
  const detail = problem?.detail ?? null;
  return { at, operation, status, code, detail, faults, requestId, sequence: 0 };
}

type RequestLogOptions = Pick<
  AppOptions,
  'newId' | 'clock' | 'trustedProxies' | 'metrics' | 'log' | 'services'
>;

/**
 * Assigns each request its id and client info. Counts and logs each request, but never logs its
 * path.
 */
export function makeRequestLog(options: RequestLogOptions) {
  const { newId, clock, trustedProxies, metrics, log, services } = options;
  const addressOf = makeAddressOf(trustedProxies);
  return {
    /** `requestId` is the id that the caller sent. */
    begin(requestId: string | null | undefined, peer: Peer | undefined): LoggedRequest {
      const startMs = clock.now();
      return {
        startMs,
        client: {
          requestId: requestIdOf(requestId, newId, startMs),
          address: addressOf(peer),
          namedId: undefined,
          place: undefined,
          problem: undefined,
          faults: undefined,
          isHeld: false,
        },
      };
    },

    /** Returns the response for a thrown value. Logs statuses 500 and 503. */
    fail(client: RequestClient, operation: MeteredOperation, thrown: unknown): ProblemParts {
      const { requestId } = client;
      const error = asSignageError(thrown);
      const answer = problemParts(error, requestId);
      client.problem = { code: answer.code, detail: withoutCodes(answer.detail) };
      const fields = { requestId, operation, code: error.code, err: error.cause };
      if (answer.status === 500) log.error(fields, error.message);
      else if (answer.status === 503) log.warn(fields, error.message);
      return answer;
    },

    end({ startMs, client }: LoggedRequest, operation: MeteredOperation, status: number): void {
      const nowMs = clock.now();
      const ms = nowMs - startMs;
      if (client.isHeld) metrics.observeHeld(operation, status);
      else metrics.observe(operation, status, ms / secondMs);
      if (client.namedId !== undefined && status !== clientLeftStatus)
        services.requests.record(client, recentRequest(client, operation, status, nowMs));
      const { requestId, address, place, problem } = client;
      const deviceId = place?.id;
      const screenId = place?.screenId;
      if (problem) {
        const { code, detail } = problem;
        const { faults } = client;
        const fields = { requestId, operation, status, ms, address, deviceId, screenId };
        log.debug({ ...fields, code, detail, faults }, 'request');
      } else
        log.debug({ requestId, operation, status, ms, address, deviceId, screenId }, 'request');
    },
  };
}

export type RequestLog = ReturnType<typeof makeRequestLog>;
