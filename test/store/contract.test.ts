import { makeMemoryFileSystem } from '../../src/store/json/disk/memory-file-system.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { emptyDatabase, freshDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { describeStore } from './contract.ts';
import type { StoreUnderTest } from './contract-telemetry.ts';

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

describeStore('memory:', () => {
  const disk = makeMemoryFileSystem();
  return underTest(() => openStore('memory:', { disk }));
});

let database: Promise<string> | undefined;
describeStore('PostgreSQL', async () => {
  database ??= freshDatabase();
  const url = await database;
  await emptyDatabase(url);
  return underTest(() => openStore(url));
});

describeStore('a data folder', async () => {
  const folder = await temporaryFolder();
  return underTest(() => openStore(folder));
});
