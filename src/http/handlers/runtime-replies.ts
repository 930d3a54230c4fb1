import { invalid } from '../../domain/error.ts';
import type { BatchSums } from '../../domain/events/batch-counts.ts';
import { maxBatch, maxEventBytes } from '../../domain/events/event.ts';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import type { DeviceCaller } from '../../service/context.ts';
import type { RenderedAnswer } from '../../service/playlists/playback.ts';
import type { Services } from '../../service/services.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ReadBody } from '../request/body.ts';
import { compactLine } from '../request/compact-line.ts';
import type { Reply } from '../request/pipeline.ts';
import { idempotencyKey } from '../request/validate.ts';

const batchKey = /^[\x20-\x7e]{1,255}$/;

/** Throws `invalid_request` naming each event that is larger than 8 KiB as sent. */
function checkEventSizes({ scan }: ReadBody): void {
  if (!scan.elements.some((size) => size > maxEventBytes)) return;
  const message = `must have at most ${maxEventBytes} bytes`;
  const errors = scan.elements.flatMap((size, index) =>
    size > maxEventBytes ? [{ path: `/${index}`, message }] : [],
  );
  throw invalid(errors, maxBatch);
}

/** Returns 200 with the body, or 304 without it, with the same headers. */
function conditional(body: RenderedAnswer['body'], headers: Record<string, string>): Reply {
  return { status: body === null ? 304 : 200, body, headers };
}

/** Responses may be cached by the TV only. */
const cacheControl = 'private, no-cache';

/**
 * Handles the frequent requests of authenticated TVs, with validated bodies. Returns synchronously
 * if the store does.
 */
export function runtimeReplies(
  { playback, telemetry }: Pick<Services, 'playback' | 'telemetry'>,
  metrics: Pick<Metrics, 'eventsReceived'>,
) {
  return {
    playlist(caller: DeviceCaller, ifNoneMatch: string | undefined): MaybePromise<Reply> {
      return andThen(playback.playlist(caller, ifNoneMatch), ({ body, etag, version, source }) =>
        conditional(body, {
          'X-Playlist-Version': String(version),
          'X-Source': source,
          ETag: etag,
          'Cache-Control': cacheControl,
        }),
      );
    },

    config(caller: DeviceCaller, ifNoneMatch: string | undefined): MaybePromise<Reply> {
      return andThen(playback.config(caller, ifNoneMatch), ({ body, etag, source }) =>
        conditional(body, { 'X-Config-Source': source, ETag: etag, 'Cache-Control': cacheControl }),
      );
    },

    /** `key` is the `Idempotency-Key` header. */
    async events(
      caller: DeviceCaller,
      sums: BatchSums,
      sent: ReadBody,
      key: string | null | undefined,
    ): Promise<Reply> {
      checkEventSizes(sent);
      const validKey = idempotencyKey(key, batchKey, 'must be 1 to 255 printable ASCII characters');
      const isRepeated = await telemetry.accept(caller, {
        sums,
        line: compactLine(sent),
        sent: sent.bytes,
        idempotencyKey: validKey,
      });
      if (!isRepeated) metrics.eventsReceived(sums.length);
      return { status: 202, body: `{"received":${sums.length}}`, headers: {} };
    },
  };
}
