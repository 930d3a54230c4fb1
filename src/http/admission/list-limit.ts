import type { IncomingMessage, ServerResponse } from 'node:http';
import pLimit, { type LimitFunction } from 'p-limit';
import { SignageError } from '../../domain/error.ts';

/** Answers of one token that are made or sent at a time: each may take 1 MiB, until its client has read it. */
const mostAtWork = 4;
const mostWaiting = 32;
const retryAfterSeconds = 1;

/** The connection of a request; a mounted `fetch` has none. */
interface Connection {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
}

/** Limits how many lists one token reads at a time (docs/protocol.md §1.8). Remembers nothing of a token that reads none. */
export class ListLimit {
  readonly #tokens = new Map<string, { limit: LimitFunction; users: number }>();

  /** Tokens that have a request at work or waiting. */
  get size(): number {
    return this.#tokens.size;
  }

  /**
   * Resolves when a request of the token may begin. Held requests (`waitSeconds`) have places of their own, and any number of them waits. Throws
   * `unavailable` when too many wait already, and `malformed_request` when the client goes away meanwhile.
   */
  async enter(tokenId: string, isHeld: boolean, connection: Connection): Promise<ListTurn> {
    const key = isHeld ? `${tokenId} held` : tokenId;
    const token = this.#tokens.get(key) ?? { limit: pLimit(mostAtWork), users: 0 };
    if (!isHeld && token.limit.pendingCount >= mostWaiting) throw tooMany();
    token.users++;
    this.#tokens.set(key, token);
    const turn = new ListTurn(token.limit, () => {
      if (--token.users === 0) this.#tokens.delete(key);
    });
    // Of requests that share a connection, only the first has an answer that tells when it is closed.
    connection.incoming?.once('close', turn.end);
    connection.outgoing?.once('close', turn.end);
    await turn.resume();
    return turn;
  }
}

/** The place of one request among those of its token. */
export class ListTurn {
  readonly #limit: LimitFunction;
  readonly #onEnd: () => void;
  #leave = () => {};
  #isOver = false;

  constructor(limit: LimitFunction, onEnd: () => void) {
    this.#limit = limit;
    this.#onEnd = onEnd;
  }

  /** Waits for a place. */
  resume(): Promise<void> {
    return new Promise((resolve, reject) => {
      const work = () =>
        new Promise<void>((leave) => {
          if (this.#isOver) {
            leave();
            reject(clientGone());
            return;
          }
          this.#leave = leave;
          resolve();
        });
      void this.#limit(work);
    });
  }

  /** Gives the place to the next one. */
  pause(): void {
    this.#leave();
  }

  /** The answer has been sent, or its client has gone. */
  readonly end = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
    this.#onEnd();
  };
}

function tooMany(): SignageError {
  const detail = `This token reads ${mostAtWork} lists, and ${mostWaiting} more wait: read fewer at a time, and this one again after Retry-After.`;
  return new SignageError('unavailable', detail, { retryAfterSeconds });
}

const clientGone = () => new SignageError('malformed_request', 'The client has gone.');
