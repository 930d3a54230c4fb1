import { setImmediate } from 'node:timers/promises';

/** Yields to the event loop. Functions whose work grows with the fleet call this between slices. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
