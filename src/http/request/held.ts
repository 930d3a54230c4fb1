import type { HandlerReply } from './pipeline.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Returns the function that replies to long polls of the management API. `stopping` ends all long
 * polls. All calls share one listener on the signal, because adding a listener to an `AbortSignal`
 * takes time in proportion to its listeners. In Node 20, `AbortSignal.any` leaks memory on the
 * signal that lives longest.
 */
export function makeLongPollReply(stopping: AbortSignal) {
  const ends = new Set<() => void>();
  stopping.addEventListener('abort', () => {
    for (const end of ends) end();
  });

  /**
   * Marks the request as a long poll if it has `waitSeconds`, and replies with the result of
   * `work`.
   */
  return async function longPollReply<T>(
    { client, context, incoming }: RequestContext,
    { waitSeconds }: { waitSeconds?: number | undefined },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<HandlerReply> {
    client.isHeld = waitSeconds !== undefined;
    const socket = incoming?.socket;
    const disconnected = socket ? undefined : context?.req.raw.signal;
    const combined = new AbortController();
    const end = () => combined.abort();
    ends.add(end);
    socket?.once('close', end);
    disconnected?.addEventListener('abort', end);
    if (stopping.aborted || socket?.destroyed || disconnected?.aborted) end();
    try {
      return { body: await work(combined.signal) };
    } finally {
      ends.delete(end);
      socket?.off('close', end);
      disconnected?.removeEventListener('abort', end);
    }
  };
}
