import type { IncomingMessage, ServerResponse } from 'node:http';

/** What is looked at in a request that waits. */
export type Waiting = Pick<ServerResponse, 'headersSent' | 'writableEnded'> & {
  req: Pick<IncomingMessage, 'complete'>;
};

/** Stands for those that were answered, which the garbage collector would otherwise take for something that stays. */
const answered: Waiting = { headersSent: true, writableEnded: true, req: { complete: true } };

export interface OverloadLimits {
  /** The longest that a request of a busy service may expect to wait. */
  longestWaitMs: number;
  /** So many may wait whatever the pace: what a service that is well never refuses. */
  floor: number;
  /** For so long, from the first look that shows it, the expected wait must have been too long, or well below, before anything changes. */
  settledMs: number;
}

/** And at so many looks: one look may come after a long turn of the event loop, in which no answer could get out. */
const settledLooks = 3;
/** How far back the pace looks. */
const paceMs = 2000;
const firstSweepAt = 1024;

/**
 * Requests that wait for the same things, and how fast they get through. What a newcomer would wait is how many are before it, divided by how
 * many get through in a second. A burst alone is no overload: only an expected wait that stays too long is, while more come than get through.
 * From then on only as many are let in as get through in time, until half of them would do.
 */
export class OverloadDetector {
  readonly #limits: OverloadLimits;
  readonly #waiting: Waiting[] = [];
  /** So many at the front were answered, and are not held any more: they still count as they would. */
  #answered = 0;
  /** How many of them were there at the last sweep, and how many of those waited for the service: not for the rest of their body. */
  #seen = 0;
  #live = 0;
  #sweepAt = firstSweepAt;
  /** How many got through since the last look, and in a millisecond over about the last two seconds. */
  #through = 0;
  #perMs = 0;
  #overloaded = false;
  /** Since when the opposite of `#overloaded` has held: milliseconds, looks, and how many waited then. */
  #contrary = { ms: 0, looks: 0, live: 0 };

  constructor(limits: OverloadLimits) {
    this.#limits = limits;
  }

  /** Whether one more may come in. */
  get isOpen(): boolean {
    return !this.#overloaded || this.#live + this.#waiting.length - this.#seen < this.#most;
  }

  get isOverloaded(): boolean {
    return this.#overloaded;
  }

  add(outgoing: Waiting): void {
    this.#dropAnsweredTail();
    this.#letGoOfAnsweredFront();
    this.#waiting.push(outgoing);
    if (this.#waiting.length >= this.#sweepAt) this.#sweep();
  }

  /** Measures the pace of the last `elapsedMs`, and judges. */
  look(elapsedMs: number): void {
    this.#sweep();
    this.#perMs += (this.#through / elapsedMs - this.#perMs) * (1 - Math.exp(-elapsedMs / paceMs));
    this.#through = 0;
    const { ms, looks, live } = this.#contrary;
    const isContrary = this.#overloaded ? this.#live < this.#most / 2 : this.#live > this.#most;
    // How long it has been so before the first look is not known: that look may come after a long turn, in which a herd arrived.
    if (!isContrary) this.#contrary = never;
    else
      this.#contrary =
        looks === 0
          ? { ms: 0, looks: 1, live: this.#live }
          : { ms: ms + elapsedMs, looks: looks + 1, live };
    if (this.#contrary.ms < this.#limits.settledMs || this.#contrary.looks < settledLooks) return;
    const isDraining = !this.#overloaded && this.#live < live;
    if (!isDraining) this.#overloaded = !this.#overloaded;
    this.#contrary = never;
  }

  /** What was answered at once should not be held until the next look: most of what TVs ask is. */
  #dropAnsweredTail(): void {
    const all = this.#waiting;
    for (let last = all.at(-1); last !== undefined && isAnswered(last); last = all.at(-1)) {
      all.pop();
      const wasSeen = all.length < this.#seen;
      if (wasSeen || this.#live < this.#limits.floor) this.#through++;
      if (!wasSeen) continue;
      this.#seen--;
      this.#live--;
    }
  }

  /** Most are answered in the order in which they came. */
  #letGoOfAnsweredFront(): void {
    const all = this.#waiting;
    let front = Math.min(this.#answered, all.length);
    for (let one = all[front]; one !== undefined && isAnswered(one); one = all[++front])
      all[front] = answered;
    this.#answered = front;
  }

  /** As many as get through within the longest wait. */
  get #most(): number {
    return Math.max(this.#limits.floor, this.#perMs * this.#limits.longestWaitMs);
  }

  /** Forgets those whose answer has begun. An answer that nobody waits for any more is work all the same: it stays until it is made. */
  #sweep(): void {
    const all = this.#waiting;
    // While many wait, answers that take no time, such as 401, make room for none of them.
    const counted = this.#live < this.#limits.floor ? all.length : this.#seen;
    let [kept, live] = [0, 0];
    for (let index = 0; index < all.length; index++) {
      const outgoing = all[index] as Waiting;
      if (isAnswered(outgoing)) {
        if (index < counted) this.#through++;
      } else {
        all[kept++] = outgoing;
        if (outgoing.req.complete) live++;
      }
    }
    all.length = kept;
    this.#answered = 0;
    this.#seen = kept;
    this.#live = live;
    this.#sweepAt = Math.max(firstSweepAt, 2 * kept);
  }
}

const isAnswered = (outgoing: Waiting) => outgoing.headersSent || outgoing.writableEnded;
const never = { ms: 0, looks: 0, live: 0 };
