import { SignageError } from '../../domain/error.ts';
import { FairQueue } from '../../domain/turns/fair-queue.ts';
import { sourceOf } from '../../service/guesses/guess-source.ts';

/** Each download holds some chunks of its file in memory, and an open file. */
const places = { total: 128, perGroup: 16 };
/** Each waiting download holds a connection. */
const maxWaiting = 256;

const busy = () =>
  new SignageError(
    'unavailable',
    `This address waits for ${maxWaiting} files already. Retry after the time in Retry-After.`,
    { retryAfterSeconds: 30 },
  );

/**
 * Limits how many files are sent at a time, in all and to one address (docs/protocol.md §5.14).
 * Further requests wait, and the addresses take turns.
 */
export class DownloadPlaces {
  readonly #queue = new FairQueue(places);

  /**
   * Waits for a place. Returns a function that frees it. `gone` aborts when the client disconnects;
   * the place is then free at once. Throws `unavailable` if too many requests of the address wait.
   */
  async enter(address: string | null, gone: AbortSignal): Promise<() => void> {
    const limits = { signal: gone, waitingOfGroup: maxWaiting, busy };
    const leave = await this.#queue.enter(sourceOf(address), limits).catch((cause) => {
      if (!gone.aborted) throw cause;
      throw new SignageError('malformed_request', 'The client disconnected.', { cause });
    });
    gone.addEventListener('abort', leave);
    if (gone.aborted) leave();
    return leave;
  }
}
