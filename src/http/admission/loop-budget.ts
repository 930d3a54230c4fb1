/** Equal to the time slice of other long work in the event loop. */
const defaultBudgetMs = 5;
/** Maximum number of queued requests that begin in one turn of the event loop. */
const maxPerTurn = 32;

interface LoopBudgetOptions<R> {
  begin(request: R): void;
  /** Returns whether the request skips the queue. */
  isUrgent(request: R): boolean;
  /**
   * Maximum queue length. When it is exceeded, the oldest queued request begins even without
   * budget. Otherwise, connections that open and close faster than requests begin would fill the
   * memory.
   */
  maxWaiting: number;
  /** Milliseconds per turn of the event loop in which requests may begin. Default: 5. */
  budgetMs?: number;
  /** Monotonic time in milliseconds. Default: `performance.now`. */
  now?: () => number;
}

/**
 * Returns a function that begins requests within a time budget per turn of the event loop. Requests
 * beyond the budget are queued, and begin in later turns, in order. Timers and sockets are served
 * in between, however many requests arrive together.
 */
export function makeLoopBudget<R>({
  begin,
  isUrgent,
  maxWaiting,
  budgetMs = defaultBudgetMs,
  now = () => performance.now(),
}: LoopBudgetOptions<R>): (request: R) => void {
  let queue: (R | undefined)[] = [];
  let nextIndex = 0;
  /**
   * Whether the budget that started at `beganMs` still applies. Then requests may begin on arrival.
   * Otherwise, `armed` callbacks begin the queued requests.
   */
  let isWithinTurn = false;
  let armed = 0;
  let beganMs: number | undefined;

  function beginNext(): void {
    const request = queue[nextIndex] as R;
    queue[nextIndex++] = undefined;
    begin(request);
  }

  /**
   * Schedules one callback per request. The work after the `await`s of a request runs before the
   * next callback, so it counts towards the budget.
   */
  function arm(): void {
    queue = queue.slice(nextIndex);
    nextIndex = 0;
    beganMs = undefined;
    armed = Math.min(queue.length, maxPerTurn);
    for (let n = 0; n < armed; n++) setImmediate(runArmed);
  }

  function runArmed(): void {
    try {
      beganMs ??= now();
      if (nextIndex < queue.length && now() - beganMs < budgetMs) beginNext();
    } finally {
      if (--armed === 0) arm();
    }
  }

  function endTurn(): void {
    isWithinTurn = false;
    if (queue.length > 0) arm();
  }

  /** Returns whether a request that has just arrived may begin at once. */
  function hasBudget(): boolean {
    if (armed > 0) return false;
    if (isWithinTurn) return now() - (beganMs as number) < budgetMs;
    isWithinTurn = true;
    beganMs = now();
    setImmediate(endTurn);
    return true;
  }

  return (request) => {
    if (hasBudget() || isUrgent(request)) begin(request);
    else {
      queue.push(request);
      if (queue.length - nextIndex > maxWaiting) beginNext();
    }
  };
}
