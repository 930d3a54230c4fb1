import type { Device, PairingCode, Rows, TableName } from '../../src/domain/records/rows.ts';
import type { Store, Tx } from '../../src/store/store.ts';

/** An object with some of its members replaced. */
export function overriding<T extends object>(of: T, own: Partial<T>): T {
  return new Proxy(of, {
    get(target, name) {
      const value: unknown = name in own ? own[name as keyof T] : Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in own) ? value.bind(target) : value;
    },
  });
}

/** A store whose changes go through a transaction with some members replaced. */
export function withTx(store: Store, plant: (tx: Tx) => Partial<Tx>): Partial<Store> {
  return { write: (change) => store.write((tx) => change(overriding(tx, plant(tx)))) };
}

/**
 * A transaction in which a code that is over, once `mended`, binds a TV again; the one that the
 * screen has is pushed aside.
 */
export function binding(
  tx: Tx,
  mend: (code: PairingCode) => PairingCode,
  pushedAside: Set<string> = new Set(),
): Partial<Tx> {
  let binds = false;
  const get = async <T extends TableName>(table: T, id: string): Promise<Rows[T] | undefined> => {
    const row = await tx.get(table, id);
    if (table === 'screens' && row && binds) return { ...row, state: 'provisioning' };
    if (table !== 'codes' || !row) return row;
    const code = row as PairingCode;
    const screen = await tx.get('screens', code.screenId);
    const mended = screen?.state === 'active' || code.state === 'pending' ? mend(code) : code;
    binds = mended.state === 'pending';
    return mended as Rows[T];
  };
  const put: Tx['put'] = async (table, row) => {
    const bound =
      binds && table === 'devices'
        ? await tx.find('devices', 'bound', (row as Device).screenId)
        : undefined;
    if (bound) {
      await tx.put('devices', { ...bound, state: 'suspended', suspendedAt: tx.now });
      pushedAside.add(bound.id);
    }
    await tx.put(table, row);
  };
  return { get, put };
}
