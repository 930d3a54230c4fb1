import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { Reader, Store } from '../../../src/store/store.ts';

/** Reads of playlists and all writes succeed, fail or never end. Or reads return invalid rows. */
export type StoreFault = 'no' | 'error' | 'hang' | 'garbage';

export interface FaultyStore extends Store {
  fault: StoreFault;
  /** Applies to writes only. */
  faultOfWrites: StoreFault;
}

const failure = () => Promise.reject(new Error('injected: the store is down'));
const never = () => new Promise<never>(() => {});

/** Returns a store that can be made to fail. Device keys can always be read. */
export function faultyStore(store: Store): FaultyStore {
  const get: Reader['get'] = (table, id) => {
    if (table !== 'playlists' || self.fault === 'no') return store.read.get(table, id);
    if (self.fault === 'hang') return never();
    return self.fault === 'error'
      ? failure()
      : (Promise.resolve({ id, version: 'rubbish', items: '[' }) as never);
  };
  const write: Store['write'] = (change) => {
    const faults = [self.fault, self.faultOfWrites];
    if (faults.includes('hang')) return never();
    return faults.includes('error') ? failure() : store.write(change);
  };
  const self = decorateStore(store as FaultyStore, {
    read: decorateStore(store.read, { get }),
    write,
    fault: 'no',
    faultOfWrites: 'no',
  });
  return self;
}
