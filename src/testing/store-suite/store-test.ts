import type { Slice } from '../../store/queries.ts';
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

/** The tests of one subject. */
export interface TestGroup {
  it(name: string, body: () => Promise<void>): void;
  /** The store of the running test, also after `reopen`. */
  store: Store;
  reopen(): Promise<void>;
  /** Runs the check now, and again after a restart. */
  alsoAfterReopen(check: () => Promise<void>): Promise<void>;
  /** Puts rows of several tables in one change. */
  put(puts: { [T in keyof Rows]?: Rows[T][] }): Promise<void>;
}

/** Returns the tests that `define` adds. */
export function testGroup(
  subject: string,
  open: OpenEmptyStore,
  define: (group: TestGroup) => void,
): StoreTest[] {
  const tests: StoreTest[] = [];
  let under: StoreUnderTest;
  let current: Store;
  const store = new Proxy({} as Store, {
    get(_, member) {
      const value: unknown = Reflect.get(current, member);
      return typeof value === 'function' ? value.bind(current) : value;
    },
  });
  const reopen = async () => {
    current = await under.reopen();
  };
  define({
    store,
    reopen,
    it(name, body) {
      const run = async () => {
        under = await open();
        current = under.store;
        try {
          await body();
        } finally {
          await under.close();
        }
      };
      tests.push({ name: `${subject}: ${name}`, run });
    },
    async alsoAfterReopen(check) {
      await check();
      await reopen();
      await check();
    },
    put: (puts) =>
      store.write(async (tx) => {
        for (const [table, rows] of Object.entries(puts))
          for (const row of rows) await tx.put(table as 'venues', row as Rows['venues']);
      }),
  });
  return tests;
}

/** Reads a list to its end. Returns the items of each page. */
export async function allPages<T>(
  ask: (from: { after?: string }) => Promise<Slice<T>>,
): Promise<T[][]> {
  const pages: T[][] = [];
  for (let from = {}; ; ) {
    const { items, next } = await ask(from);
    pages.push(items);
    if (next === null) return pages;
    from = { after: next };
  }
}

/** Returns a gate: `opened` resolves once `open` is called. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
