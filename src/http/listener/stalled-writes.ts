import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Number of periods in a limit. A connection is closed up to one period late. No period may equal
 * the keep-alive time-out of idle connections.
 */
const periods = 15;

interface StalledWritesOptions {
  /** Milliseconds without progress. */
  limitMs: number;
  inProgress(socket: Socket): ServerResponse | undefined;
}

/**
 * With TLS, Node reports progress only when a whole write is done. The limit applies to each 64 KiB
 * of it.
 */
const tlsBytesPerLimit = 64 * 1024;

/**
 * Closes connections whose client reads nothing of a response for `limitMs`.
 *
 * Node emits `timeout` when nothing was read or written for a period. A pending write counts as
 * active if a part of it was sent since the last check, which may be the start of the write. With
 * one period as long as the limit, a connection could last for twice the limit.
 */
export function cutStalledWrites(
  server: Server,
  { limitMs, inProgress }: StalledWritesOptions,
): void {
  const periodLengthMs = limitMs / periods;
  const stalls = new WeakMap<Socket, { quietMs: number; seenMs: number }>();

  server.setTimeout(periodLengthMs, (socket) => {
    // After a response, Node sets the keep-alive time-out instead.
    if (!inProgress(socket) && socket.timeout !== periodLengthMs) return void socket.destroy();
    // Nothing to send. The next read or write restarts the period.
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
