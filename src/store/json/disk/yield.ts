import { setImmediate } from 'node:timers/promises';

/** Lets others have their turn: work that grows with the fleet is done in slices, with this in between. */
export function yieldToEventLoop(): Promise<void> {
  return setImmediate();
}
