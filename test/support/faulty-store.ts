import type { Reader, Store } from '../../src/store/store.ts';

/**
 * What happens to reads of playlists, and to every write: as always, a failure, no answer ever, or
 * (reads alone) rubbish.
 */
export type StoreFault = 'no' | 'error' | 'hang' | 'garbage';

export interface FaultyStore extends Store {
  fault: StoreFault;
  /** Lets reads be, and only what is to be written fail. */
  faultOfWrites: StoreFault;
}

const planted = () => Promise.reject(new Error('planted: the store is down'));
const never = () => new Promise<never>(() => {});

/**
 * An object with some members in place of its own; the others work on the object itself, which may
 * have private ones.
 */
function replaced<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (_, name, value) => Reflect.set(members, name, value),
  });
}

/**
 * A store whose playlists cannot be had. Keys are found all the same: who asks must be known before
 * anything else fails.
 */
export function faultyStore(store: Store): FaultyStore {
  const get: Reader['get'] = (table, id) => {
    if (table !== 'playlists' || self.fault === 'no') return store.read.get(table, id);
    if (self.fault === 'hang') return never();
    return self.fault === 'error'
      ? planted()
      : (Promise.resolve({ id, version: 'rubbish', items: '[' }) as never);
  };
  const write: Store['write'] = (change) => {
    const faults = [self.fault, self.faultOfWrites];
    if (faults.includes('hang')) return never();
    return faults.includes('error') ? planted() : store.write(change);
  };
  const self = replaced(store as FaultyStore, {
    read: replaced(store.read, { get }),
    write,
    fault: 'no',
    faultOfWrites: 'no',
  });
  return self;
}
