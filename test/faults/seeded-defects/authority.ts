import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { Rows, TableName } from '../../../src/store/sections.ts';
import type { Reader } from '../../../src/store/store.ts';
import { startService } from '../../support/service/service.ts';
import { withTx } from '../../support/stores/defective-store.ts';
import { type Defect, serveWithDefect } from '../../support/stores/seeded-defects.ts';
import { runAttacks } from '../authority/run-attacks.ts';
import { seeded } from './seeded-defect.ts';

/** Caches tokens after the first read. */
function remembering(reader: Reader, known: Map<string, Rows['tokens']>): Partial<Reader> {
  const remember = <T extends TableName>(
    table: T,
    key: string,
    row: Rows[T] | undefined,
  ): Rows[T] | undefined => {
    if (table !== 'tokens') return row;
    if (row) known.set(key, row as Rows['tokens']);
    return known.get(key) as Rows[T] | undefined;
  };
  return {
    get: async (table, id) => remember(table, id, await reader.get(table, id)),
    find: async (table, index, key) => remember(table, key, await reader.find(table, index, key)),
  };
}

const tokensCached: Defect = {
  store(store) {
    const known = new Map<string, Rows['tokens']>();
    return {
      read: decorateStore(store.read, remembering(store.read, known)),
      ...withTx(store, (tx) => remembering(tx, known)),
    };
  },
};

async function attack(defect: Defect = {}): Promise<string[]> {
  const service = await startService<Clock>({ clock: systemClock }, (async () =>
    serveWithDefect(defect)) as never);
  const attacked = await runAttacks([service], 2);
  return Object.entries(attacked).flatMap(([name, { successes }]) =>
    successes.map((what) => `${name}: ${what}`),
  );
}

export const authority = seeded('authority', attack, {
  'a token is good as long as the service remembers it': tokensCached,
});
