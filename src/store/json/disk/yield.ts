import { setImmediate } from 'node:timers/promises';

/** Yields to the event loop. Work that grows with the fleet calls this between slices. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
