import { executionAsyncResource } from 'node:async_hooks';

/** Keeps one of the objects that `process.nextTick` makes: at the first call. */
export function tickKeeper(): () => void {
  let kept: object | undefined;
  return () => {
    if (kept) return;
    process.nextTick(() => {
      kept = executionAsyncResource();
    });
  };
}

/**
 * Node's streams need three of these objects for each request. The engine (of Node.js 20, at least) forgets what they look like when it collects garbage while none is there, as in
 * any quiet moment, and from the third time on each is made the slow way for good: in 400 ns instead of 100. One for the whole process prevents it.
 */
export const keepTicksQuick = tickKeeper();
