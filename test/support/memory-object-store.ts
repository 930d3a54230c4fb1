import { setImmediate } from 'node:timers/promises';
import type { ObjectStore } from '../../src/origin/object-store/object-store.ts';

/** What becomes of a call: a failure before anything was done, or after it was; no answer ever. */
export type ObjectStoreFault = 'no' | 'before' | 'after' | 'hang';

export interface MemoryObjectStore extends ObjectStore {
  /** Contents by key. */
  readonly objects: Map<string, string>;
  /** Every call that was made, as `put key`. */
  readonly calls: string[];
  /** The most calls that were under way at once. */
  readonly mostAtOnce: number;
  /** Asked before each call. */
  fault: (what: string, key: string) => ObjectStoreFault;
  /** Whether it heeds the condition of `put`. */
  knowsConditions: boolean;
}

/** An object store in memory that fails when it is told to. Each call takes a moment. */
export function memoryObjectStore(location = 'memory://objects'): MemoryObjectStore {
  const objects = new Map<string, string>();
  const etags = new Map<string, string>();
  const calls: string[] = [];
  let [underWay, mostAtOnce, writes] = [0, 0, 0];

  async function call<T>(what: string, key: string, work: () => T): Promise<T> {
    calls.push(`${what} ${key}`);
    mostAtOnce = Math.max(mostAtOnce, ++underWay);
    try {
      const fault = self.fault(what, key);
      await setImmediate();
      if (fault === 'hang') return await new Promise<never>(() => {});
      if (fault === 'before') throw new Error('planted: it failed before');
      const result = work();
      await setImmediate();
      if (fault === 'after') throw new Error('planted: it failed after');
      return result;
    } finally {
      underWay--;
    }
  }

  const self: MemoryObjectStore = {
    location,
    objects,
    calls,
    get mostAtOnce() {
      return mostAtOnce;
    },
    fault: () => 'no',
    knowsConditions: true,
    get: (key) =>
      call('get', key, () => {
        const text = objects.get(key);
        return text === undefined
          ? undefined
          : { bytes: Buffer.from(text), etag: etags.get(key) ?? 'planted' };
      }),
    put: (key, bytes, expected) =>
      call('put', key, () => {
        if (
          self.knowsConditions &&
          expected !== (objects.has(key) ? (etags.get(key) ?? 'planted') : null)
        )
          return false;
        objects.set(key, Buffer.from(bytes).toString());
        etags.set(key, String(++writes));
        return true;
      }),
    delete: (key) =>
      call('delete', key, () => {
        objects.delete(key);
      }),
    list: (folder) =>
      call('list', folder, () => ({
        keys: [...objects.keys()].filter((key) => key.startsWith(`${folder}/`)),
        next: null,
      })),
    async close() {},
  };
  return self;
}
