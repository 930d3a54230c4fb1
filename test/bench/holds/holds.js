// Measures for how long the event loop of this process is held.
import { openSync, readSync } from 'node:fs';

/** Opens the scheduler statistics of this thread, which exist only on Linux. */
function openSchedstat() {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return undefined;
  }
}

/**
 * Looks at the clock once a millisecond. That takes 3 % of a core in an idle process, so benchmarks
 * of idle CPU call `stop`. `longestOwnHoldMs` leaves out
 * the time in which the thread was ready and waited for a core: the second number of `schedstat`,
 * in nanoseconds. Where that file does not exist, both figures are equal.
 */
export function watchHolds() {
  const schedstat = openSchedstat();
  const text = Buffer.alloc(64);
  const waitedMs = () => {
    if (schedstat === undefined) return 0;
    const length = readSync(schedstat, text, 0, 64, 0);
    return Number(text.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  };
  const none = { longestHoldMs: 0, longestOwnHoldMs: 0 };
  const holds = {
    longest: { ...none },
    reset: () => Object.assign(holds.longest, none),
  };
  let last = { at: performance.now(), waited: waitedMs() };
  const timer = setInterval(() => {
    const now = { at: performance.now(), waited: waitedMs() };
    const holdMs = now.at - last.at;
    const ownMs = holdMs - (now.waited - last.waited);
    const { longest } = holds;
    longest.longestHoldMs = Math.max(longest.longestHoldMs, holdMs);
    longest.longestOwnHoldMs = Math.max(longest.longestOwnHoldMs, ownMs);
    last = now;
  }, 1).unref();
  return { ...holds, stop: () => clearInterval(timer) };
}
