import type { MiddlewareHandler } from 'hono';
import { secondMs } from '../../domain/clock.ts';
import { invalid } from '../../domain/error.ts';
import { maxBatch, maxEventBytes } from '../../domain/events/event.ts';
import type { DeviceChanges } from '../../domain/records/device-changes.ts';
import type { Services } from '../../service/assembly/services.ts';
import type { GuessQuota } from '../../service/guesses/rate-policy.ts';
import type { ConfigAnswer, PlaylistAnswer } from '../../service/playlists/device-answers.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { BaseUrlOf } from '../request/base-url.ts';
import { compactLine, type ReadBody } from '../request/body.ts';
import type { HeldResponse, HttpResponse } from '../request/http-response.ts';
import type { HandlerReply, Handlers } from '../request/pipeline.ts';
import type { App } from '../request/request-context.ts';
import { deviceTime, idempotencyKey, secretIdempotencyKey } from '../request/validate.ts';

const batchKey = /^[\x20-\x7e]{1,255}$/;
const batchRule = 'must be 1 to 255 printable ASCII characters';

/** Throws `invalid_request` naming each event that is larger than 8 KiB as sent. */
function checkEventSizes({ scan }: ReadBody): void {
  if (!scan.elements.some((size) => size > maxEventBytes)) return;
  const message = `must have at most ${maxEventBytes} bytes`;
  const errors = scan.elements.flatMap((size, index) =>
    size > maxEventBytes ? [{ path: `/${index}`, message }] : [],
  );
  throw invalid(errors, maxBatch);
}

/** Returns the status of a response: 304 if it has no body, otherwise 200. */
const statusOf = (body: object | null) => (body === null ? 304 : 200);
/** Only the TV may cache the response. It must revalidate the response before each use. */
const cacheControl = 'private, no-cache';

function playlistReply({ body, etag, version, source }: PlaylistAnswer): HandlerReply {
  return {
    status: statusOf(body),
    body,
    headers: {
      'X-Playlist-Version': String(version),
      'X-Source': source,
      ETag: etag,
      'Cache-Control': cacheControl,
    },
  };
}

function configReply({ body, etag, source }: ConfigAnswer): HandlerReply {
  return {
    status: statusOf(body),
    body,
    headers: { 'X-Config-Source': source, ETag: etag, 'Cache-Control': cacheControl },
  };
}

const changesAnswer = (changes: DeviceChanges): HttpResponse => ({
  status: 200,
  headers: { 'Cache-Control': 'no-store' },
  type: 'application/json',
  body: JSON.stringify(changes),
});

const wholeSeconds = (ms: number) => Math.ceil(ms / secondMs);

/** Returns the headers of a quota (draft-ietf-httpapi-ratelimit-headers-10). */
function rateLimitHeaders({ limit, windowMs, remaining, resetMs }: GuessQuota): [string, string][] {
  const reset = resetMs === undefined ? '' : `;t=${wholeSeconds(resetMs)}`;
  return [
    ['RateLimit-Policy', `"unknown-codes";q=${limit};w=${wholeSeconds(windowMs)}`],
    ['RateLimit', `"unknown-codes";r=${remaining}${reset}`],
  ];
}

/**
 * Counts failed registrations by reason. Adds headers with the quota of the source to a response if
 * the code was looked up.
 */
export function registrationMiddleware(
  metrics: Pick<Metrics, 'registration'>,
): MiddlewareHandler<App> {
  return async (context, next) => {
    await next();
    const { operation, guessQuota } = context.var;
    const { status, headers } = context.res;
    if (guessQuota)
      for (const [name, value] of rateLimitHeaders(guessQuota)) headers.set(name, value);
    if (operation === 'registerDevice' && status >= 400)
      metrics.registration(status === 429 ? 'locked_out' : 'refused');
  };
}

/** Handlers of the TV API (docs/protocol.md §2, §3). */
export function runtimeHandlers(
  { register, rotateKey, deviceAnswers, deviceChanges, telemetry }: Services,
  metrics: Pick<Metrics, 'registration' | 'eventsReceived'>,
  baseUrlOf: BaseUrlOf,
) {
  return {
    async registerDevice({ body, request }) {
      const { answer, repeated } = await register({
        ...request.client,
        body,
        idempotencyKey: secretIdempotencyKey(request),
        onQuota: (quota) => request.context?.set('guessQuota', quota),
        subject: request.client,
      });
      metrics.registration(repeated ? 'repeated' : 'bound');
      return { body: answer, headers: { 'Cache-Control': 'no-store' } };
    },

    async rotateDeviceKey({ principal, request }) {
      const key = secretIdempotencyKey(request);
      return { body: await rotateKey(principal, key), headers: { 'Cache-Control': 'no-store' } };
    },

    async getPlaylist({ principal, precondition, request }) {
      return playlistReply(
        await deviceAnswers.playlist(principal, precondition, baseUrlOf(request)),
      );
    },

    async getDeviceConfig({ principal, precondition }) {
      return configReply(await deviceAnswers.config(principal, precondition));
    },

    async getDeviceChanges({ principal, query, request }): Promise<HandlerReply | HeldResponse> {
      const { after, waitSeconds } = query;
      const baseUrl = baseUrlOf(request);
      request.client.isHeld = waitSeconds !== undefined;
      if (after === undefined || waitSeconds === undefined)
        return {
          body: await deviceChanges.get(principal, baseUrl, after),
          headers: { 'Cache-Control': 'no-store' },
        };
      return {
        hold: (receiver) =>
          deviceChanges.hold(
            principal,
            { after, waitSeconds, baseUrl },
            {
              answer: (changes) => receiver.send(changesAnswer(changes)),
              fail: (error) => receiver.fail(error),
            },
          ),
      };
    },

    async postEvents({ principal, body, sent, request }) {
      checkEventSizes(sent);
      const key = idempotencyKey(request, batchKey, batchRule);
      const isRepeated = await telemetry.accept(principal, {
        events: body,
        line: compactLine(sent),
        sent: sent.bytes,
        idempotencyKey: key,
        deviceTime: deviceTime(request),
      });
      if (!isRepeated) metrics.eventsReceived(body.length);
      return { body: `{"received":${body.length}}` };
    },
  } satisfies Partial<Handlers>;
}
