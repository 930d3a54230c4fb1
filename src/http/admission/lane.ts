export interface OverloadLimits {
  /** Maximum expected wait of a request, in milliseconds. */
  maxWaitMs: number;
  /**
   * Number of requests in progress below which every request is admitted. A healthy service exceeds
   * it only in short bursts.
   */
  floor: number;
  /**
   * Duration for which the measurements must contradict the current state before it changes, in
   * milliseconds. It begins at the first such measurement.
   */
  settledMs: number;
}

/**
 * Minimum number of measurements that must contradict the current state. A single measurement may
 * follow a long turn of the event loop, in which no response could be sent.
 */
const minMeasurements = 3;
/** Time constant of the moving average of the throughput, in milliseconds. */
const averageOverMs = 2000;

const notOpposite = { ms: 0, measurements: 0, atWork: 0 };

/**
 * Detects overload of requests that wait for the same resource. The expected wait of a new request
 * is the number of requests in progress divided by the throughput (Little's law). A burst alone is
 * not overload. Overload begins when the expected wait stays too long and the number of requests in
 * progress does not fall. During overload, requests are admitted up to the number that can be
 * answered within the maximum wait. Overload ends when the number in progress stays below half of
 * that limit.
 */
export class Lane {
  readonly #limits: OverloadLimits;
  #atWork = 0;
  /** Number of measurements so far. */
  #measured = 0;
  /** Requests answered since the last measurement. */
  #answered = 0;
  /** Moving average of the throughput, in requests per millisecond. */
  #perMs = 0;
  #isOverloaded = false;
  /**
   * Consecutive measurements that contradict `#isOverloaded`: their duration, their number, and the
   * number of requests in progress at the first measurement.
   */
  #opposite = notOpposite;

  constructor(limits: OverloadLimits) {
    this.#limits = limits;
  }

  /** Returns whether another request may be admitted. */
  get isOpen(): boolean {
    return !this.#isOverloaded || this.#atWork < this.#limit;
  }

  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  /** Counts a request as in progress. Returns the argument for `leave`. */
  enter(): number {
    this.#atWork++;
    return this.#measured;
  }

  /** Counts a request as answered. */
  leave(enteredAt: number): void {
    this.#atWork--;
    // While many requests are in progress, a request that began after the last measurement does not
    // count. Immediate responses, such as 401, would make the throughput look too high.
    if (enteredAt < this.#measured || this.#atWork < this.#limits.floor) this.#answered++;
  }

  /** Measures the throughput of the last `elapsedMs`, and updates the state. */
  measure(elapsedMs: number): void {
    this.#measured++;
    this.#perMs +=
      (this.#answered / elapsedMs - this.#perMs) * (1 - Math.exp(-elapsedMs / averageOverMs));
    this.#answered = 0;
    const isOpposite = this.#isOverloaded
      ? this.#atWork < this.#limit / 2
      : this.#atWork > this.#limit;
    if (!isOpposite) {
      this.#opposite = notOpposite;
      return;
    }
    const { ms, measurements, atWork } = this.#opposite;
    if (measurements === 0) {
      // The time before the first measurement does not count: it may be a long turn of the event
      // loop, in which a burst arrived.
      this.#opposite = { ms: 0, measurements: 1, atWork: this.#atWork };
    } else this.#opposite = { ms: ms + elapsedMs, measurements: measurements + 1, atWork };
    if (this.#opposite.ms < this.#limits.settledMs || this.#opposite.measurements < minMeasurements)
      return;
    const isDraining = !this.#isOverloaded && this.#atWork < atWork;
    if (!isDraining) this.#isOverloaded = !this.#isOverloaded;
    this.#opposite = notOpposite;
  }

  /**
   * Returns the number of requests that can be answered within the maximum wait, at least the
   * floor.
   */
  get #limit(): number {
    return Math.max(this.#limits.floor, this.#perMs * this.#limits.maxWaitMs);
  }
}
