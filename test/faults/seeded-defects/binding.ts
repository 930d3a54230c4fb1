import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { Store } from '../../../src/store/store.ts';
import { withTx } from '../../support/stores/defective-store.ts';
import { defectOf } from '../../support/stores/seeded-defects.ts';
import { onCrashingDisk } from '../binding/fixture.ts';
import { runBindingScenario } from '../binding/scenario.ts';
import { seeded } from './seeded-defect.ts';

const size = { instances: 1, screens: 1, clients: 4, calls: 10, cuts: 1 };
const seeds = ['first', 'second', 'third', 'fourth'];

async function play(wrap?: (store: Store) => Store): Promise<string[]> {
  const found: string[] = [];
  for (const seed of seeds)
    if (found.length === 0)
      found.push(...(await runBindingScenario(seed, onCrashingDisk(wrap), size)).found);
  return found;
}

const planting = (name: Parameters<typeof defectOf>[0]) => (store: Store) =>
  decorateStore(store, defectOf(name).store?.(store) ?? {});

/** Revocations do not change the keys. */
const keepingKeys = (store: Store) =>
  decorateStore(
    store,
    withTx(store, (tx) => ({
      put: async (table, row) =>
        table === 'deviceKeys' && 'state' in row && row.state === 'revoked'
          ? undefined
          : tx.put(table, row),
    })),
  );

/** Registrations do not cancel the other codes of their screen. */
const keepingCodes = (store: Store) =>
  decorateStore(
    store,
    withTx(store, (tx) => ({
      put: async (table, row) =>
        table === 'codes' && 'state' in row && row.state === 'cancelled'
          ? undefined
          : tx.put(table, row),
    })),
  );

const defects: Record<string, (store: Store) => Store> = {
  'a used code works again': planting('lets a used code work again'),
  'two devices on one screen': planting('binds two devices to one screen'),
  'the screen stays active after a revoke': planting('leaves the screen active after a revoke'),
  'revoke that leaves the key': keepingKeys,
  'the other codes of a screen outlive a registration': keepingCodes,
};

export const binding = seeded('binding/scenario', play, defects);
