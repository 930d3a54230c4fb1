import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServedRequest } from '../request/request-context.ts';

interface QueuedConnection {
  readonly socket: Socket;
  /**
   * The response in progress, until its last byte is handed to the system. `undefined` while no
   * request is in progress.
   */
  inProgress: ServerResponse | undefined;
  /** Responses to the requests that wait, in order of arrival. */
  readonly waiting: ServerResponse[];
  /**
   * `isHeld`: reading is paused until all waiting requests are answered. `isHoldDue`: the next tick
   * decides whether to pause.
   */
  isHeld: boolean;
  isHoldDue: boolean;
  /** Called once, `delayMs` after the connection has become idle. */
  onIdle: { callback: () => void; delayMs: number } | undefined;
  idleTimer: NodeJS.Timeout | undefined;
  /** When the last response ended, by `performance.now()`. */
  idleSinceMs: number;
  /** Whether a request of the connection had a verified credential. */
  isKnown: boolean;
}

const isIdle = ({ inProgress, waiting }: QueuedConnection) =>
  inProgress === undefined && waiting.length === 0;

/**
 * Pauses a socket that Node has resumed. Node resumes a socket when it parses or reads a body, and
 * when a response drains.
 */
function pauseAgain(this: Socket): void {
  this.pause();
}

export interface RequestQueueOptions {
  begin(outgoing: ServerResponse): void;
  /** Maximum number of requests that wait on all connections together. */
  maxWaiting: number;
}

/**
 * Begins one request at a time on each connection. The next request begins in a later turn of the
 * event loop, after the last byte of the previous response was handed to the system. Node parses
 * everything it has read and emits all pipelined requests at once. It pauses the socket only
 * afterwards, so each of these requests could have an unread response in memory. This queue pauses
 * the socket while complete requests wait, so a connection holds only the requests of one read. If
 * too many requests wait on all connections together, the connection with the most waiting requests
 * is destroyed.
 */
export class RequestQueue {
  readonly #begin: RequestQueueOptions['begin'];
  readonly #maxWaiting: number;
  readonly #connections = new Map<Socket, QueuedConnection>();
  readonly #queued = new Set<QueuedConnection>();
  #waiting = 0;

  constructor({ begin, maxWaiting }: RequestQueueOptions) {
    this.#begin = begin;
    this.#maxWaiting = maxWaiting;
  }

  /** Begins a request, or queues it behind earlier requests of its connection. */
  add(outgoing: ServerResponse): void {
    const { socket } = outgoing.req;
    const connection = this.#connections.get(socket) ?? this.#open(socket);
    clearTimeout(connection.idleTimer);
    if (isIdle(connection)) this.#start(connection, outgoing);
    else if (!socket.destroyed) this.#enqueue(connection, outgoing);
  }

  inProgress(socket: Socket): ServerResponse | undefined {
    return this.#connections.get(socket)?.inProgress;
  }

  /**
   * Returns whether the socket is paused. If it is, the client may have sent more of its next
   * request than the service has read.
   */
  isHeld(socket: Socket): boolean {
    return this.#connections.get(socket)?.isHeld ?? false;
  }

  /**
   * Calls `callback` at once if the connection is idle. Otherwise waits until its complete requests
   * are answered, then `delayMs` longer. A request that arrives during the delay cancels the call.
   * If the connection closes before the delay begins, `callback` is not called. Drops a waiting
   * request that is incomplete.
   */
  afterResponses(socket: Socket, callback: () => void, delayMs = 0): void {
    const connection = this.#connections.get(socket);
    if (!connection || isIdle(connection)) {
      callback();
      return;
    }
    connection.onIdle ??= { callback, delayMs };
    const last = connection.waiting.at(-1);
    if (last && !last.req.complete) this.#remove(connection, connection.waiting.length - 1, 1);
  }

  /** Closes connections without a verified credential that have been idle for `quietMs`. */
  closeIdleStrangers(quietMs: number): void {
    const sinceMs = performance.now() - quietMs;
    for (const connection of this.#connections.values()) {
      const { isKnown, idleSinceMs, socket } = connection;
      if (!isKnown && isIdle(connection) && idleSinceMs < sinceMs) socket.destroy();
    }
  }

  #open(socket: Socket): QueuedConnection {
    const connection: QueuedConnection = {
      socket,
      inProgress: undefined,
      waiting: [],
      isHeld: false,
      isHoldDue: false,
      onIdle: undefined,
      idleTimer: undefined,
      idleSinceMs: 0,
      isKnown: false,
    };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  #start(connection: QueuedConnection, outgoing: ServerResponse): void {
    connection.inProgress = outgoing;
    // Node emits `close` after `finish`, or when the socket is closed.
    outgoing.on('close', () => this.#end(connection));
    this.#begin(outgoing);
  }

  #end(connection: QueuedConnection): void {
    const request: ServedRequest | undefined = connection.inProgress?.req;
    connection.isKnown ||= request?.isKnown === true;
    connection.idleSinceMs = performance.now();
    connection.inProgress = undefined;
    if (connection.waiting.length > 0) setImmediate(() => this.#startNext(connection));
    else this.#release(connection);
  }

  #startNext(connection: QueuedConnection): void {
    const { socket, waiting } = connection;
    // Drops all waiting requests if the socket is not writable: after the client closed it, or
    // after a response with `Connection: close` (RFC 9112 §9.6).
    const [next] = this.#remove(connection, 0, socket.writable ? 1 : waiting.length);
    if (next && socket.writable) this.#start(connection, next);
    else this.#release(connection);
  }

  #remove(connection: QueuedConnection, from: number, count: number): ServerResponse[] {
    const removed = connection.waiting.splice(from, count);
    this.#waiting -= removed.length;
    if (connection.waiting.length === 0) this.#queued.delete(connection);
    return removed;
  }

  #release(connection: QueuedConnection): void {
    const { socket, onIdle } = connection;
    if (connection.isHeld) {
      connection.isHeld = false;
      socket.off('resume', pauseAgain).resume();
    }
    connection.onIdle = undefined;
    if (!onIdle || !socket.writable) return;
    if (onIdle.delayMs > 0) connection.idleTimer = setTimeout(onIdle.callback, onIdle.delayMs);
    else onIdle.callback();
  }

  #enqueue(connection: QueuedConnection, outgoing: ServerResponse): void {
    connection.waiting.push(outgoing);
    this.#queued.add(connection);
    this.#waiting++;
    if (this.#waiting > this.#maxWaiting) this.#destroyLongest();
    else if (!connection.isHeld && !connection.isHoldDue) {
      connection.isHoldDue = true;
      // Pauses in the next tick. Until then, Node parses the rest of the data that it has read, and
      // would resume the socket.
      process.nextTick(() => this.#hold(connection));
    }
  }

  /**
   * Pauses the socket, unless the last waiting request is incomplete. The client must be able to
   * send the rest of that request in time.
   */
  #hold(connection: QueuedConnection): void {
    connection.isHoldDue = false;
    if (connection.isHeld || !connection.waiting.at(-1)?.req.complete) return;
    connection.isHeld = true;
    connection.socket.on('resume', pauseAgain).pause();
  }

  #destroyLongest(): void {
    const [first, ...others] = this.#queued;
    const longest = others.reduce(
      (most, one) => (one.waiting.length > most.waiting.length ? one : most),
      first as QueuedConnection,
    );
    this.#remove(longest, 0, longest.waiting.length);
    longest.socket.destroy();
  }
}
