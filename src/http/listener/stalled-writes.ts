import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Number of periods per `limitMs`. A connection is closed up to one period late. The period must
 * differ from the keep-alive time-out of idle connections.
 */
const periods = 15;

interface StalledWritesOptions {
  /** Milliseconds without progress after which a connection is closed. */
  limitMs: number;
  inProgress(socket: Socket): ServerResponse | undefined;
}

/**
 * With TLS, Node reports progress only when a whole write is done. A write therefore gets `limitMs`
 * for each 64 KiB.
 */
const tlsBytesPerLimit = 64 * 1024;

/**
 * Closes connections whose client reads nothing of a response for `limitMs`.
 *
 * Node emits `timeout` when nothing was read or written for a period. If a part of a pending write
 * was sent since the last check, Node waits for another period. With a single period of `limitMs`,
 * a connection could therefore last twice as long.
 */
export function cutStalledWrites(
  server: Server,
  { limitMs, inProgress }: StalledWritesOptions,
): void {
  const periodLengthMs = limitMs / periods;
  const stalls = new WeakMap<Socket, { quietMs: number; seenMs: number }>();

  server.setTimeout(periodLengthMs, (socket) => {
    // After a response, Node sets the keep-alive time-out. If this event is the keep-alive
    // time-out, the connection is idle and is closed.
    if (!inProgress(socket) && socket.timeout !== periodLengthMs) return void socket.destroy();
    // Nothing remains to be sent. The next read or write restarts the period.
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
