import { setImmediate } from 'node:timers/promises';

/** Time after which other requests get a turn of the event loop. */
const turnMs = 5;

/** Returns a function to await in long loops: now and then, it gives other requests a turn. */
export function makeTurnTaker(): () => Promise<void> {
  let endMs = performance.now() + turnMs;
  return async () => {
    if (performance.now() < endMs) return;
    await setImmediate();
    endMs = performance.now() + turnMs;
  };
}
