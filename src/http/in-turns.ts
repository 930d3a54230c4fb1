/** So long may requests be begun in one turn of the event loop: as long as a slice of whatever else grows with a fleet. */
const turnMs = 5;

interface InTurnsOptions<R> {
  begin(request: R): void;
  /** What need not wait. */
  isUrgent(request: R): boolean;
  /** When so many wait, each that comes begins the one that has waited longest: clients that send one after the other, and read no answers, shall not fill the memory. */
  mostWaiting: number;
  /** Milliseconds. */
  now?: () => number;
}

/**
 * Begins with requests as they come, but only with as many as one turn of the event loop has time for; the others begin in the next ones, in order. However
 * many arrive together, and however slow code is that was not compiled yet: timers and sockets get their turns in between.
 */
export function makeInTurns<R>({ begin, isUrgent, mostWaiting, now = () => performance.now() }: InTurnsOptions<R>): (request: R) => void {
  let waiting: (R | undefined)[] = [];
  let next = 0;
  let [sinceMs, untilMs] = [now(), 0];

  function beginNext(): void {
    const request = waiting[next] as R;
    waiting[next++] = undefined;
    begin(request);
  }

  function goOn(): void {
    sinceMs = now();
    try {
      do beginNext();
      while (next < waiting.length && now() - sinceMs < turnMs);
    } finally {
      waiting = waiting.slice(next);
      next = 0;
      if (waiting.length > 0) setImmediate(goOn);
      sinceMs = now();
      untilMs = sinceMs;
    }
  }

  function wait(request: R): void {
    if (waiting.push(request) === 1) setImmediate(goOn);
    else if (waiting.length - next > mostWaiting) beginNext();
  }

  return (request) => {
    const atMs = now();
    // To learn where a turn ends takes a callback in each, a twentieth of a request: instead, what follows soon after another counts as in the same turn.
    if (atMs - untilMs >= turnMs) sinceMs = atMs;
    if ((waiting.length > 0 || atMs - sinceMs >= turnMs) && !isUrgent(request)) {
      wait(request);
      return;
    }
    begin(request);
    untilMs = now();
  };
}
