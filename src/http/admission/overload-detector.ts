import type { IncomingMessage, ServerResponse } from 'node:http';

/** The parts of a response that tell whether its request still waits. */
export type PendingResponse = Pick<ServerResponse, 'headersSent' | 'writableEnded'> & {
  req: Pick<IncomingMessage, 'complete'>;
};

/** Replaces answered responses, so that the garbage collector can free them early. */
const answered: PendingResponse = {
  headersSent: true,
  writableEnded: true,
  req: { complete: true },
};

export interface OverloadLimits {
  /** Maximum time in milliseconds that a request may be expected to wait. */
  maxWaitMs: number;
  /**
   * Number of requests that may always wait. A healthy service stays below it and rejects nothing.
   */
  floor: number;
  /**
   * Milliseconds for which the expected wait must stay too long, or well below the limit, before
   * the state changes. Counted from the first measurement that shows it.
   */
  settledMs: number;
}

/**
 * Minimum number of such measurements. A single one may follow a long turn of the event loop in
 * which no response could be sent.
 */
const minMeasurements = 3;
/** Time constant of the moving average of the throughput. */
const averageOverMs = 2000;
const firstSweepAt = 1024;

/**
 * Detects overload of requests that wait for the same resource. The expected wait of a new request
 * is the queue length divided by the throughput. A burst alone is not overload: the expected wait
 * must stay too long while the queue does not shrink. During overload, requests are admitted only
 * up to the number answered within the maximum wait. It ends when the queue falls below half of
 * that.
 */
export class OverloadDetector {
  readonly #limits: OverloadLimits;
  readonly #responses: PendingResponse[] = [];
  /**
   * Number of leading entries already answered and released. They still count towards the limit.
   */
  #released = 0;
  /**
   * Entries present at the last sweep, and how many of those wait for the service rather than for
   * the rest of their body.
   */
  #swept = 0;
  #pending = 0;
  #sweepAt = firstSweepAt;
  /**
   * Responses since the last measurement, and the average per millisecond over about the last two
   * seconds.
   */
  #completed = 0;
  #perMs = 0;
  #overloaded = false;
  /**
   * How long the opposite of `#overloaded` has held: milliseconds, measurements, and the number
   * pending at the start.
   */
  #opposite = { ms: 0, measurements: 0, pending: 0 };

  constructor(limits: OverloadLimits) {
    this.#limits = limits;
  }

  /** Whether one more request may be admitted. */
  get isOpen(): boolean {
    return !this.#overloaded || this.#pending + this.#responses.length - this.#swept < this.#limit;
  }

  get isOverloaded(): boolean {
    return this.#overloaded;
  }

  add(outgoing: PendingResponse): void {
    this.#dropAnsweredTail();
    this.#releaseAnsweredFront();
    this.#responses.push(outgoing);
    if (this.#responses.length >= this.#sweepAt) this.#sweep();
  }

  /** Measures the throughput of the last `elapsedMs`, and updates the state. */
  measure(elapsedMs: number): void {
    this.#sweep();
    this.#perMs +=
      (this.#completed / elapsedMs - this.#perMs) * (1 - Math.exp(-elapsedMs / averageOverMs));
    this.#completed = 0;
    const { ms, measurements, pending } = this.#opposite;
    const isOpposite = this.#overloaded
      ? this.#pending < this.#limit / 2
      : this.#pending > this.#limit;
    // The time before the first measurement does not count. It may follow a long turn of the event
    // loop in which a burst arrived.
    if (!isOpposite) this.#opposite = notOpposite;
    else
      this.#opposite =
        measurements === 0
          ? { ms: 0, measurements: 1, pending: this.#pending }
          : { ms: ms + elapsedMs, measurements: measurements + 1, pending };
    if (this.#opposite.ms < this.#limits.settledMs || this.#opposite.measurements < minMeasurements)
      return;
    const isDraining = !this.#overloaded && this.#pending < pending;
    if (!isDraining) this.#overloaded = !this.#overloaded;
    this.#opposite = notOpposite;
  }

  /**
   * Drops entries that were answered immediately, as most requests of TVs are, without waiting for
   * the next sweep.
   */
  #dropAnsweredTail(): void {
    const all = this.#responses;
    for (let last = all.at(-1); last !== undefined && isAnswered(last); last = all.at(-1)) {
      all.pop();
      const wasSwept = all.length < this.#swept;
      if (wasSwept || this.#pending < this.#limits.floor) this.#completed++;
      if (!wasSwept) continue;
      this.#swept--;
      this.#pending--;
    }
  }

  /** Releases answered entries at the front: most requests are answered in order. */
  #releaseAnsweredFront(): void {
    const all = this.#responses;
    let front = Math.min(this.#released, all.length);
    for (let one = all[front]; one !== undefined && isAnswered(one); one = all[++front])
      all[front] = answered;
    this.#released = front;
  }

  /** Number of requests answered within the maximum wait, at least the floor. */
  get #limit(): number {
    return Math.max(this.#limits.floor, this.#perMs * this.#limits.maxWaitMs);
  }

  /**
   * Removes entries whose response has begun. A response whose client has disconnected stays until
   * it is complete, because it still takes work.
   */
  #sweep(): void {
    const all = this.#responses;
    // While many wait, responses that take no time, such as 401, do not count as throughput.
    const counted = this.#pending < this.#limits.floor ? all.length : this.#swept;
    let kept = 0;
    let pending = 0;
    for (let index = 0; index < all.length; index++) {
      const outgoing = all[index] as PendingResponse;
      if (isAnswered(outgoing)) {
        if (index < counted) this.#completed++;
      } else {
        all[kept++] = outgoing;
        if (outgoing.req.complete) pending++;
      }
    }
    all.length = kept;
    this.#released = 0;
    this.#swept = kept;
    this.#pending = pending;
    this.#sweepAt = Math.max(firstSweepAt, 2 * kept);
  }
}

const isAnswered = (outgoing: PendingResponse) => outgoing.headersSent || outgoing.writableEnded;
const notOpposite = { ms: 0, measurements: 0, pending: 0 };
