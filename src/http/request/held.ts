import type { Reply } from './pipeline.ts';
import type { Exchange } from './request-context.ts';

/** Why a long poll may end early. */
export interface HoldEnd {
  /** Aborts when the client disconnects or the service stops. */
  signal: AbortSignal;
  /** Aborts the signal. */
  end(): void;
  /** Returns whether the client has disconnected, so that nobody reads the answer. */
  hasLeft(): boolean;
}

/**
 * Marks the request as a long poll if it has `waitSeconds`, and replies with the result of `work`.
 * Does not use `AbortSignal.any`, because in Node 20 each call of it leaks memory on the signal
 * that lives longest.
 */
export async function longPollReply<T>(
  stopping: AbortSignal,
  { client, context, outgoing }: Exchange,
  { waitSeconds }: { waitSeconds?: number | undefined },
  work: (end: HoldEnd) => Promise<T>,
): Promise<Reply> {
  client.isHeld = waitSeconds !== undefined;
  const disconnected = outgoing ? undefined : context?.req.raw.signal;
  const combined = new AbortController();
  const end = () => combined.abort();
  stopping.addEventListener('abort', end);
  outgoing?.once('close', end);
  disconnected?.addEventListener('abort', end);
  const hasLeft = () => outgoing?.destroyed ?? disconnected?.aborted ?? false;
  if (stopping.aborted || hasLeft()) end();
  try {
    return { body: await work({ signal: combined.signal, end, hasLeft }) };
  } finally {
    stopping.removeEventListener('abort', end);
    outgoing?.off('close', end);
    disconnected?.removeEventListener('abort', end);
  }
}
