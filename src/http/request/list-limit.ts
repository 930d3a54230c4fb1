import type { ServerResponse } from 'node:http';
import pLimit, { type LimitFunction } from 'p-limit';
import { SignageError } from '../../domain/error.ts';
import type { ServedRequest } from './request-context.ts';

/**
 * Maximum number of lists that one token reads at a time. Each response may hold 1 MiB of memory
 * until its client has read it.
 */
const maxConcurrent = 4;
const maxWaiting = 32;
const retryAfterSeconds = 1;

/** The connection of a request. A mounted `fetch` has no connection. */
interface ListConnection {
  incoming?: ServedRequest | undefined;
  outgoing?: ServerResponse | undefined;
}

/**
 * Limits how many lists one token reads at a time (docs/protocol.md §1.8). Keeps no state for idle
 * tokens.
 */
export class ListLimit {
  readonly #tokens = new Map<string, { limit: LimitFunction; users: number }>();

  /** Number of limits in use. A token has one limit for long polls, and one for all other lists. */
  get size(): number {
    return this.#tokens.size;
  }

  /**
   * Resolves when a request of the token may begin. Long polls (`waitSeconds`) have a separate
   * limit, and any number of long polls may wait. Throws `unavailable` when too many requests wait.
   * Throws `malformed_request` when the client disconnects, or if it has disconnected already.
   */
  async enter(tokenId: string, isLongPoll: boolean, connection: ListConnection): Promise<ListSlot> {
    // The client may have disconnected during the look-up of its credential. In that case, `close`
    // has already been emitted.
    if (connection.incoming?.socket.destroyed) throw clientGone();
    const key = isLongPoll ? `${tokenId} long poll` : tokenId;
    const token = this.#tokens.get(key) ?? { limit: pLimit(maxConcurrent), users: 0 };
    if (!isLongPoll && token.limit.pendingCount >= maxWaiting) throw tooMany();
    token.users++;
    this.#tokens.set(key, token);
    const slot = new ListSlot(token.limit, () => {
      if (--token.users === 0) this.#tokens.delete(key);
    });
    // When a connection with pipelined requests closes, every request emits `close`, but only the
    // first response does.
    connection.incoming?.once('close', slot.close);
    connection.outgoing?.once('close', slot.close);
    slot.hasWaited = token.limit.activeCount + token.limit.pendingCount >= maxConcurrent;
    // Waiting for other lists of the same token is no sign of overload.
    if (slot.hasWaited) connection.incoming?.admission?.end();
    try {
      await slot.resume();
    } catch (error) {
      slot.settle();
      throw error;
    }
    return slot;
  }
}

/**
 * A slot of the concurrency limit of a token. It is released when the work has settled and the
 * response is closed. Work may continue after the client has disconnected, and a client may read
 * long after the work has settled.
 */
export class ListSlot {
  readonly #limit: LimitFunction;
  readonly #onEnd: () => void;
  /**
   * Whether the request had to wait for a slot. If so, its credential must be checked again,
   * because it may have expired or been deleted meanwhile.
   */
  hasWaited = false;
  readonly #gone = new AbortController();
  #release = () => {};
  #hasSettled = false;
  #isClosed = false;

  constructor(limit: LimitFunction, onEnd: () => void) {
    this.#limit = limit;
    this.#onEnd = onEnd;
  }

  /** Aborts when the client disconnects before the work has settled. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Waits for a free slot, at first and after `pause`. */
  resume(): Promise<void> {
    return new Promise((resolve, reject) => {
      const occupy = () =>
        new Promise<void>((release) => {
          if (this.#isClosed) {
            release();
            reject(clientGone());
            return;
          }
          this.#release = release;
          resolve();
        });
      void this.#limit(occupy);
    });
  }

  /** Releases the slot to the next request. `resume` waits for a slot again. */
  pause(): void {
    this.#release();
  }

  /** Called when the response has been sent, or the client has disconnected. */
  readonly close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#hasSettled) this.#end();
    else this.#gone.abort(clientGone());
  };

  /** Called once when the work has settled. */
  settle(): void {
    this.#hasSettled = true;
    if (this.#isClosed) this.#end();
  }

  #end(): void {
    this.#release();
    this.#onEnd();
  }
}

function tooMany(): SignageError {
  const detail = `This token reads ${maxConcurrent} lists already, and ${maxWaiting} more wait. Read fewer at a time, and retry after the time in Retry-After.`;
  return new SignageError('unavailable', detail, { retryAfterSeconds });
}

const clientGone = () => new SignageError('malformed_request', 'The client disconnected.');
