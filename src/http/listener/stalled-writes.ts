import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Number of periods in a limit. A connection is cut up to one period late. No period may be as long as idle connections are kept alive. */
const periods = 15;

interface StalledWritesOptions {
  /** Milliseconds without progress. */
  limitMs: number;
  inProgress(socket: Socket): ServerResponse | undefined;
}

/** With TLS, Node tells progress only when a whole write is done. So much of it may take as long as the limit. */
const tlsBytesPerLimit = 64 * 1024;

/**
 * Cuts connections whose client takes nothing of a response for `limitMs`.
 *
 * Node emits `timeout` when nothing was read or written for a period. A pending write counts as
 * active if a part of it was sent since the last look, which may be the start of the write. With one
 * period as long as the limit, a connection could last for twice the limit.
 */
export function cutStalledWrites(
  server: Server,
  { limitMs, inProgress }: StalledWritesOptions,
): void {
  const lookMs = limitMs / periods;
  const stalls = new WeakMap<Socket, { quietMs: number; seenMs: number }>();

  server.setTimeout(lookMs, (socket) => {
    // Node sets another period after a response: the connection is kept alive for so long.
    if (!inProgress(socket) && socket.timeout !== lookMs) return void socket.destroy();
    // Nothing is to be sent. The next read or write starts the period again.
    if (socket.writableLength === 0) return;
    const periodMs = socket.timeout ?? 0;
    const nowMs = performance.now();
    const before = stalls.get(socket);
    const isContinued = before && nowMs - before.seenMs < 1.5 * periodMs;
    const quietMs = periodMs + (isContinued ? before.quietMs : 0);
    const limits =
      socket instanceof TLSSocket ? Math.max(1, socket.writableLength / tlsBytesPerLimit) : 1;
    if (quietMs >= limits * limitMs) return void socket.destroy();
    stalls.set(socket, { quietMs, seenMs: nowMs });
    socket.setTimeout(periodMs);
  });
}
