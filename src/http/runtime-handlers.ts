import { invalid } from '../domain/error.ts';
import { maxEventBytes } from '../domain/event.ts';
import type { Services } from '../service/services.ts';
import type { ReadBody } from './body.ts';
import { oneLine } from './one-line.ts';
import type { Handlers, Reply } from './pipeline.ts';
import { idempotencyKey } from './validate.ts';

type RuntimeHandlers = Pick<Handlers, 'registerDevice' | 'rotateDeviceKey' | 'getPlaylist' | 'getDeviceConfig' | 'postEvents'>;

const secretKey = /^[\x21-\x7e]{16,255}$/;
const secretRule = 'must be 16 to 255 visible ASCII characters, random, such as a UUID';
const batchKey = /^[\x20-\x7e]{1,255}$/;

/** Throws `invalid_request` naming each event that is larger than 8 KiB as it was sent. */
function checkEventSizes({ scan }: ReadBody): void {
  const message = `must have at most ${maxEventBytes} bytes`;
  const errors = scan.elements.flatMap((size, index) => (size > maxEventBytes ? [{ path: `/${index}`, message }] : []));
  if (errors.length > 0) throw invalid(errors);
}

/** 200 with the body, or 304 with the same headers; private to the TV that asked. */
function conditional({ body, etag }: { body: string | null; etag: string }, headers: Record<string, string>): Reply {
  const all = { ...headers, ETag: etag, 'Cache-Control': 'private, no-cache' };
  return body === null ? { status: 304, headers: all } : { body, headers: all };
}

/** Told of what succeeded, for the metrics. */
export interface SuccessCount {
  registered(repeated: boolean): void;
  events(received: number): void;
}

/** What TVs call (docs/protocol.md §2, §3). */
export function runtimeHandlers({ register, rotateKey, playback, telemetry }: Services, count: SuccessCount): RuntimeHandlers {
  return {
    async registerDevice({ body, context }) {
      const key = idempotencyKey(context.req.raw.headers, secretKey, secretRule);
      const { answer, repeated } = await register({ ...context.var.origin, body, idempotencyKey: key });
      count.registered(repeated);
      return { body: answer, headers: { 'Cache-Control': 'no-store' } };
    },

    async rotateDeviceKey({ caller, context }) {
      const key = idempotencyKey(context.req.raw.headers, secretKey, secretRule);
      return { body: await rotateKey(caller, key), headers: { 'Cache-Control': 'no-store' } };
    },

    async getPlaylist({ caller, context }) {
      const answer = await playback.playlist(caller, context.req.header('if-none-match'));
      return conditional(answer, { 'X-Playlist-Version': String(answer.version), 'X-Source': answer.source });
    },

    async getDeviceConfig({ caller, context }) {
      const answer = await playback.config(caller, context.req.header('if-none-match'));
      return conditional(answer, { 'X-Config-Source': answer.source });
    },

    async postEvents({ caller, body: events, sent, context }) {
      checkEventSizes(sent);
      const key = idempotencyKey(context.req.raw.headers, batchKey, 'must be 1 to 255 printable ASCII characters');
      const repeated = await telemetry.accept(caller, { events, line: oneLine(sent), sent: sent.bytes, idempotencyKey: key });
      if (!repeated) count.events(events.length);
      return { body: { received: events.length } };
    },
  };
}
