import { createHash } from 'node:crypto';
import type { ObjectStore } from '../../src/origin/object-store/object-store.ts';

/**
 * What happens to every call: as always, a failure, no answer ever, rubbish to read, or nothing to
 * read.
 */
export type ObjectFault = 'no' | 'error' | 'hang' | 'garbage' | 'none';

export interface FaultyObjects extends ObjectStore {
  fault: ObjectFault;
  /** What is kept, by key. */
  readonly objects: Map<string, Uint8Array>;
  /** How often something was read. */
  gets: number;
}

const etagOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** An object store in memory that can be made to fail. */
export function faultyObjects(): FaultyObjects {
  const attempt = async <T>(work: () => T): Promise<T> => {
    if (self.fault === 'hang') return new Promise<never>(() => {});
    if (self.fault === 'error') throw new Error('planted: the object store is down');
    return work();
  };
  const self: FaultyObjects = {
    location: 'test:objects',
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
