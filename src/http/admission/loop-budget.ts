const defaultBudgetMs = 5;
/** Maximum number of queued requests that begin in one turn of the event loop. */
const maxPerTurn = 32;

interface LoopBudgetOptions<R> {
  begin(request: R): void;
  /** Returns whether a request skips the queue. */
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
 * begin after all sockets with data were read. This order costs less than reading and answering one
 * socket after another. Requests beyond the budget begin in later turns, in order. Timers and
 * sockets are served in between, however many requests arrive together.
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
  /** Number of scheduled callbacks. Each begins at most one request. */
  let armed = 0;
  /** Time at which the first callback of this turn ran. `undefined` between two turns. */
  let beganMs: number | undefined;

  function beginNext(): void {
    const request = queue[nextIndex] as R;
    queue[nextIndex++] = undefined;
    begin(request);
  }

  /**
   * Schedules a callback that begins one request. The work after the `await`s of a request runs
   * before the next callback, so it counts towards the budget.
   */
  function arm(): void {
    armed++;
    setImmediate(runArmed);
  }

  function runArmed(): void {
    try {
      beganMs ??= now();
      if (nextIndex < queue.length && now() - beganMs < budgetMs) beginNext();
    } finally {
      if (--armed === 0) endTurn();
    }
  }

  function endTurn(): void {
    queue = queue.slice(nextIndex);
    nextIndex = 0;
    beganMs = undefined;
    while (armed < Math.min(queue.length, maxPerTurn)) arm();
  }

  return (request) => {
    if (isUrgent(request)) return begin(request);
    queue.push(request);
    if (queue.length - nextIndex > maxWaiting) beginNext();
    else if (beganMs === undefined && armed < maxPerTurn) arm();
  };
}
