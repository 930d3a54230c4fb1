import { describe, it } from 'vitest';
import { makeMemoryFileSystem } from '../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../src/store/location/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { StoreUnderTest } from '../../src/testing/store-suite/store-test.ts';
import { storeTests } from '../../src/testing/store-suite/store-tests.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres/postgres.ts';

async function underTest(open: () => Promise<Store>): Promise<StoreUnderTest> {
  let store = await open();
  return {
    store,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    close: () => store.close(),
  };
}

describe('memory:', () => {
  const open = () => {
    const disk = makeMemoryFileSystem();
    return underTest(() => openStore('memory:', { disk }));
  };
  for (const { name, run } of storeTests(open)) it(name, run);
});

describe('PostgreSQL', () => {
  let database: Promise<string> | undefined;
  const open = async () => {
    database ??= freshDatabase();
    const url = await database;
    await emptyDatabase(url);
    return underTest(() => openStore(url));
  };
  for (const { name, run } of storeTests(open)) it(name, run);
});

describe('a data folder', () => {
  const open = async () => {
    const folder = await temporaryFolder();
    return underTest(() => openStore(folder));
  };
  for (const { name, run } of storeTests(open)) it(name, run);
});
