// How long the event loop of this process is held, and for how much of that its thread had to wait
// until a core was free.
import { openSync, readSync } from 'node:fs';

/** Linux alone tells; elsewhere nothing counts as waiting. */
function openSchedule() {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return undefined;
  }
}

/**
 * Looks once a millisecond, which costs 2 us. `longestHoldMs`: by the clock; `longestOwnHoldMs`:
 * without the time in which this thread could have gone on, but other
 * threads and programs had the cores (the second number of `schedstat`, in nanoseconds).
 */
export function watchHolds() {
  const schedule = openSchedule();
  const text = Buffer.alloc(64);
  const waitedMs = () =>
    schedule === undefined
      ? 0
      : Number(text.toString('latin1', 0, readSync(schedule, text, 0, 64, 0)).split(' ')[1]) / 1e6;
  const holds = {
    longest: { longestHoldMs: 0, longestOwnHoldMs: 0 },
    reset: () => Object.assign(holds.longest, { longestHoldMs: 0, longestOwnHoldMs: 0 }),
  };
  let last = { at: performance.now(), waited: waitedMs() };
  setInterval(() => {
    const now = { at: performance.now(), waited: waitedMs() };
    const hold = now.at - last.at;
    const { longest } = holds;
    longest.longestHoldMs = Math.max(longest.longestHoldMs, hold);
    longest.longestOwnHoldMs = Math.max(
      longest.longestOwnHoldMs,
      hold - (now.waited - last.waited),
    );
    last = now;
  }, 1).unref();
  return holds;
}
