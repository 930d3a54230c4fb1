/** As long as a slice of whatever else grows with a fleet. */
const usualTurnMs = 5;
/** So many of those that wait are looked at in one turn. */
const mostAtOnce = 32;

interface InTurnsOptions<R> {
  begin(request: R): void;
  /** What need not wait. */
  isUrgent(request: R): boolean;
  /**
   * When so many wait, each that comes begins the one that has waited longest. Connections that come
   * and go faster than requests begin would otherwise fill the memory.
   */
  mostWaiting: number;
  /** So long may requests be begun in one turn of the event loop. Default: 5. */
  turnMs?: number;
  /** Milliseconds. */
  now?: () => number;
}

/**
 * Begins with requests as they come, but only with as many as one turn of the event loop has time for; the others begin in the next ones, in order. However
 * many arrive together, and however slow code is that was not compiled yet: timers and sockets get their turns in between.
 */
export function makeLoopBudget<R>({
  begin,
  isUrgent,
  mostWaiting,
  turnMs = usualTurnMs,
  now = () => performance.now(),
}: InTurnsOptions<R>): (request: R) => void {
  let waiting: (R | undefined)[] = [];
  let next = 0;
  /** Whether requests are begun as they come, since `beganMs`; else `armed` callbacks see to those that wait. */
  let isTurn = false;
  let armed = 0;
  let beganMs: number | undefined;

  function beginNext(): void {
    const request = waiting[next] as R;
    waiting[next++] = undefined;
    begin(request);
  }

  /** One callback for each, so that what a request does after an `await` counts as well: it is done before the next one. */
  function arm(): void {
    waiting = waiting.slice(next);
    next = 0;
    beganMs = undefined;
    armed = Math.min(waiting.length, mostAtOnce);
    for (let n = 0; n < armed; n++) setImmediate(goOn);
  }

  function goOn(): void {
    try {
      beganMs ??= now();
      if (next < waiting.length && now() - beganMs < turnMs) beginNext();
    } finally {
      if (--armed === 0) arm();
    }
  }

  function leaveTurn(): void {
    isTurn = false;
    if (waiting.length > 0) arm();
  }

  /** Whether there is time for one that has just come. */
  function hasTime(): boolean {
    if (armed > 0) return false;
    if (isTurn) return now() - (beganMs as number) < turnMs;
    isTurn = true;
    beganMs = now();
    setImmediate(leaveTurn);
    return true;
  }

  return (request) => {
    if (hasTime() || isUrgent(request)) begin(request);
    else {
      waiting.push(request);
      if (waiting.length - next > mostWaiting) beginNext();
    }
  };
}
