import { decorateStore } from '../../../src/service/store-decorator.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { runTimeScenario } from '../time/scenario.ts';
import { type StoreDefect, twoOnDatabase } from '../time/topology.ts';
import { seeded } from './seeded-defect.ts';

/** Runs lives of two instances until one has violations, and returns these. */
async function live(defect?: StoreDefect): Promise<string[]> {
  const store = await freshDatabase();
  let found: string[] = [];
  for (let life = 0; life < 5 && found.length === 0; life++)
    found = await runTimeScenario(`life ${life}`, 25, await twoOnDatabase(store, defect));
  return found;
}

/** Defects of an instance whose machine has a wrong clock. */
export const time = seeded('two instances in time', live, {
  'reads by the clock of the machine': () => ({ now: () => Date.now() }),
  'changes by the clock of the machine': (store) => ({
    write: (change) => store.write((tx) => change(decorateStore(tx, { now: Date.now() }))),
  }),
});
