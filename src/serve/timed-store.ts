import type { StoreWriteKind } from '../http/metrics/metrics.ts';
import { decorateStore } from '../service/store-decorator.ts';
import type { Store } from '../store/store.ts';

/**
 * Returns a store that measures its writes. `observe` gets milliseconds, also for failed writes.
 */
export function timedStore(
  store: Store,
  observe: (kind: StoreWriteKind, ms: number) => void,
): Store {
  async function timed<T>(kind: StoreWriteKind, write: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    try {
      return await write();
    } finally {
      observe(kind, performance.now() - startedMs);
    }
  }
  return decorateStore(store, {
    write: (change) => timed('change', () => store.write(change)),
    appendBatch: (batch) => timed('events', () => store.appendBatch(batch)),
  });
}
