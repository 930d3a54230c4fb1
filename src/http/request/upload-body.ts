import type { IncomingMessage } from 'node:http';
import { minuteMs } from '../../domain/clock.ts';
import { invalid, SignageError } from '../../domain/error.ts';
import type { UploadBody } from '../../service/media/media-uploads.ts';
import type { RequestContext, ServedRequest } from './request-context.ts';

/** Time-out for a client that sends nothing more of a file (docs/protocol.md §5.14). */
const stallMs = minuteMs;

const cut = (cause?: unknown) =>
  new SignageError('malformed_request', 'The connection was closed before the end of the body.', {
    cause,
  });

const stalled = () =>
  new SignageError('request_timeout', 'Nothing more of the file has arrived for 60 seconds.');

/** Resolves when more of the body, or its end, can be read. */
function untilReadable(incoming: IncomingMessage, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: SignageError) => () => {
      clearTimeout(timer);
      for (const [event, listener] of listeners) incoming.off(event, listener);
      if (error) reject(error);
      else resolve();
    };
    const listeners: [string, () => void][] = [
      ['readable', settle()],
      ['end', settle()],
      ['error', settle(cut())],
      ['close', settle(cut())],
    ];
    const timer = setTimeout(settle(stalled()), limitMs);
    for (const [event, listener] of listeners) incoming.once(event, listener);
  });
}

/** Reads a body while it arrives. Never holds more of it than the socket has delivered. */
async function* readIncoming(incoming: ServedRequest, limitMs: number): AsyncGenerator<Uint8Array> {
  if (incoming.rawBody) {
    yield incoming.rawBody;
    return;
  }
  incoming.hasLongBody = true;
  incoming.sendContinue?.();
  for (;;) {
    const chunk = incoming.read() as Buffer | null;
    if (chunk !== null) yield chunk;
    else if (incoming.readableEnded) return;
    else if (incoming.destroyed) throw cut();
    else await untilReadable(incoming, limitMs);
  }
}

async function* readRequest({ body }: Request): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) yield chunk;
  } catch (cause) {
    throw cut(cause);
  }
}

/**
 * Returns the body of an upload, which must name its length and be uncompressed. Its time limit
 * applies to pauses only.
 */
export function uploadBody(request: RequestContext, limitMs = stallMs): UploadBody {
  const length = request.header('content-length');
  if (length === undefined || !/^\d{1,15}$/.test(length))
    throw invalid([
      { path: 'header.content-length', message: 'is required: the number of bytes of the body' },
    ]);
  if ((request.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw new SignageError('unsupported_media_type', 'Send the file uncompressed.');
  const { incoming, context } = request;
  return {
    length: Number(length),
    read: () =>
      incoming ? readIncoming(incoming, limitMs) : readRequest(context?.req.raw as Request),
  };
}
