import { createHash } from 'node:crypto';
import type { ObjectStore } from '../../../src/origin/object-store/object-store.ts';

/** Calls succeed, fail or never end. Or reads return invalid data, or nothing. */
export type ObjectFault = 'no' | 'error' | 'hang' | 'garbage' | 'none';

export interface FaultyObjects extends ObjectStore {
  fault: ObjectFault;
  /** Contents by key. */
  readonly objects: Map<string, Uint8Array>;
  /** Number of reads. */
  gets: number;
}

const etagOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Returns an object store in memory that can be made to fail as a whole. */
export function faultyObjects(): FaultyObjects {
  const attempt = async <T>(work: () => T): Promise<T> => {
    if (self.fault === 'hang') return new Promise<never>(() => {});
    if (self.fault === 'error') throw new Error('injected: the object store is down');
    return work();
  };
  const self: FaultyObjects = {
    fault: 'no',
    objects: new Map(),
    gets: 0,
    get(key) {
      self.gets++;
      return attempt(() => {
        const bytes = self.fault === 'garbage' ? Buffer.from('{"format":1') : self.objects.get(key);
        return bytes === undefined || self.fault === 'none'
          ? undefined
          : { bytes, etag: etagOf(bytes) };
      });
    },
    put: (key, bytes, expected) =>
      attempt(() => {
        const before = self.objects.get(key);
        if ((before ? etagOf(before) : null) !== expected) return false;
        self.objects.set(key, bytes);
        return true;
      }),
    delete: (key) => attempt(() => void self.objects.delete(key)),
    list: (folder) =>
      attempt(() => ({
        keys: [...self.objects.keys()].filter((key) => key.startsWith(`${folder}/`)),
        next: null,
      })),
    close: async () => {},
  };
  return self;
}
