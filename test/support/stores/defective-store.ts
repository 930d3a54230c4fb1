import type { Device, PairingCode } from '../../../src/domain/records/rows.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import type { Rows, TableName } from '../../../src/store/sections.ts';
import type { Store, Tx } from '../../../src/store/store.ts';

/** Returns a `write` of the store that replaces members of each transaction. */
export function withTx(store: Store, replace: (tx: Tx) => Partial<Tx>): Partial<Store> {
  return { write: (change) => store.write((tx) => change(decorateStore(tx, replace(tx)))) };
}

/**
 * Returns members of a transaction in which a code that `reopen` makes pending again binds another
 * device to its screen. The device that was bound is suspended, and added to `displaced`.
 */
export function rebindingTx(
  tx: Tx,
  reopen: (code: PairingCode) => PairingCode,
  displaced: Set<string> = new Set(),
): Partial<Tx> {
  let binds = false;
  const get = async <T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> => {
    const row = await tx.get(table, id);
    if (table === 'screens' && row && binds) return { ...row, state: 'provisioning' };
    if (table !== 'codes' || !row) return row;
    const code = row as PairingCode;
    const screen = await tx.get('screens', code.screenId);
    const reopened = screen?.state === 'active' || code.state === 'pending' ? reopen(code) : code;
    binds = reopened.state === 'pending';
    return reopened as Rows[T];
  };
  const put: Tx['put'] = async (table, row) => {
    const bound =
      binds && table === 'devices'
        ? await tx.find('devices', 'bound', (row as Device).screenId)
        : undefined;
    if (bound) {
      await tx.put('devices', { ...bound, state: 'suspended', suspendedAt: tx.now });
      displaced.add(bound.id);
    }
    await tx.put(table, row);
  };
  return { get, put };
}
