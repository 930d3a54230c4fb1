import { openStore } from '../../../src/store/location/open.ts';
import type { Store } from '../../../src/store/store.ts';

/** Opens a store for some work, and closes it again. */
export async function inStore<T>(
  location: string,
  work: (store: Store) => Promise<T>,
  options?: Parameters<typeof openStore>[1],
): Promise<T> {
  const store = await openStore(location, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
