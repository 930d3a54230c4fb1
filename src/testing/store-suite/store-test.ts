import type { Rows } from '../../store/sections.ts';
import type { Store } from '../../store/store.ts';

/** A store in a location of its own. */
export interface StoreUnderTest {
  store: Store;
  /** Closes the store and opens it again in the same location. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

/** Opens an empty store in a location of its own. */
export type OpenEmptyStore = () => Promise<StoreUnderTest>;

/** One promise of the interface `Store`. */
export interface StoreTest {
  name: string;
  /** Opens a store, and closes it at the end. Rejects if the store breaks the promise. */
  run(): Promise<void>;
}

/**
 * Returns functions that collect the tests of one subject.
 *
 * @param onOpen receives the store when a test begins, and the new store after each `reopen`
 */
export function testGroup(subject: string, open: OpenEmptyStore, onOpen: (store: Store) => void) {
  const tests: StoreTest[] = [];
  let under: StoreUnderTest;
  return {
    tests,
    it(name: string, body: () => Promise<void>): void {
      const run = async () => {
        under = await open();
        onOpen(under.store);
        try {
          await body();
        } finally {
          await under.close();
        }
      };
      tests.push({ name: `${subject}: ${name}`, run });
    },
    async reopen(): Promise<void> {
      onOpen(await under.reopen());
    },
  };
}

/** Puts rows of several tables in one change. */
export function putRows(store: Store, puts: { [T in keyof Rows]?: Rows[T][] }): Promise<void> {
  return store.write(async (tx) => {
    for (const [table, rows] of Object.entries(puts))
      for (const row of rows) await tx.put(table as 'venues', row as Rows['venues']);
  });
}

/** Returns a gate: `opened` resolves once `open` is called. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
