import { setImmediate } from 'node:timers/promises';
import type { ObjectStore } from '../../../src/origin/object-store/object-store.ts';

/** A call fails before its effect or after it, or never ends. */
export type ObjectStoreFault = 'no' | 'before' | 'after' | 'hang';

export interface MemoryObjectStore extends ObjectStore {
  /** Contents by key. */
  readonly objects: Map<string, string>;
  /** All calls, such as `put key`. */
  readonly calls: string[];
  /** The highest number of concurrent calls. */
  readonly mostAtOnce: number;
  /** Called before each call. */
  fault: (what: string, key: string) => ObjectStoreFault;
  /** If false, it ignores the condition of `put`. */
  supportsConditions: boolean;
}

/** Returns an asynchronous object store in memory that can be made to fail. */
export function memoryObjectStore(): MemoryObjectStore {
  const objects = new Map<string, string>();
  const etags = new Map<string, string>();
  const calls: string[] = [];
  let inFlight = 0;
  let mostAtOnce = 0;
  let writes = 0;

  async function call<T>(what: string, key: string, work: () => T): Promise<T> {
    calls.push(`${what} ${key}`);
    mostAtOnce = Math.max(mostAtOnce, ++inFlight);
    try {
      const fault = self.fault(what, key);
      await setImmediate();
      if (fault === 'hang') return await new Promise<never>(() => {});
      if (fault === 'before') throw new Error('injected: failed before the effect');
      const result = work();
      await setImmediate();
      if (fault === 'after') throw new Error('injected: failed after the effect');
      return result;
    } finally {
      inFlight--;
    }
  }

  const self: MemoryObjectStore = {
    objects,
    calls,
    get mostAtOnce() {
      return mostAtOnce;
    },
    fault: () => 'no',
    supportsConditions: true,
    get: (key) =>
      call('get', key, () => {
        const text = objects.get(key);
        return text === undefined
          ? undefined
          : { bytes: Buffer.from(text), etag: etags.get(key) ?? 'initial' };
      }),
    put: (key, bytes, expected) =>
      call('put', key, () => {
        if (
          self.supportsConditions &&
          expected !== (objects.has(key) ? (etags.get(key) ?? 'initial') : null)
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
