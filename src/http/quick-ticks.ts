import { executionAsyncResource } from 'node:async_hooks';

let kept: object | undefined;

/**
 * Keeps one of the objects that `process.nextTick` makes, once for the whole process. Node's streams need three of them for each request. The engine forgets what they look
 * like when it collects garbage while none is there, as in any quiet moment, and from the third time on each is made the slow way for good: in 400 ns instead of 100.
 */
export function keepTicksQuick(): void {
  if (kept) return;
  process.nextTick(() => {
    kept = executionAsyncResource();
  });
}
