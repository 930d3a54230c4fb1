import type { Clock } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { DeviceKey } from '../../domain/records/rows.ts';
import type { KeyHolder, Store, Tx } from '../../store/store.ts';
import { decorateStore } from '../store-decorator.ts';

/** More devices than this are not remembered: the one that called least recently goes. */
const mostDevices = 100_000;

interface Verified {
  hash: string;
  bearer: KeyHolder;
  verifiedAt: number;
}

/** What this instance knows of device keys while the store cannot be asked (docs/protocol.md §2.1). */
export interface OfflineKeys {
  /** To be used in place of the store that was given: it sees who is revoked. */
  readonly store: Store;
  /** As `Reader.findByKeyHash`; but when the store is `unavailable`, a bearer that was verified here a moment ago is the answer. */
  findByKeyHash(hash: string): MaybePromise<KeyHolder | undefined>;
}

function isGood(bearer: KeyHolder | undefined): bearer is KeyHolder & { device: object } {
  return (
    bearer?.device !== undefined &&
    bearer.key.state !== 'revoked' &&
    bearer.screen?.deviceId === bearer.device.id
  );
}

/** Tells of every device that a change takes a key from, or deletes. */
function noting(tx: Tx, ended: Set<string>): Tx {
  return decorateStore(tx, {
    async put(table, row) {
      if (table === 'deviceKeys' && (row as DeviceKey).state === 'revoked')
        ended.add((row as DeviceKey).deviceId);
      await tx.put(table, row);
    },
    async delete(table, id) {
      if (table === 'devices') ended.add(id);
      await tx.delete(table, id);
    },
  });
}

/**
 * Remembers which device keys were good, for `graceMs` after each time that the store said so. It never outweighs an answer of the store; what is revoked
 * by this instance is forgotten before the revocation is answered.
 */
export function makeOfflineKeys(store: Store, clock: Clock, graceMs: number): OfflineKeys {
  const byDevice = new Map<string, Verified>();
  const deviceOf = new Map<string, string>();
  /** Counts what was forgotten: an answer that was on its way meanwhile may be from before. */
  let forgettings = 0;

  function forget(deviceId: string): void {
    const known = byDevice.get(deviceId);
    if (!known) return;
    byDevice.delete(deviceId);
    deviceOf.delete(known.hash);
  }

  function remember(hash: string, bearer: KeyHolder & { device: { id: string } }): void {
    const { id } = bearer.device;
    forget(id);
    byDevice.set(id, { hash, bearer, verifiedAt: clock.now() });
    deviceOf.set(hash, id);
    if (byDevice.size > mostDevices) forget(byDevice.keys().next().value as string);
  }

  function recall(hash: string): KeyHolder | undefined {
    const known = byDevice.get(deviceOf.get(hash) ?? '');
    // A clock may be set back: that must not make it long.
    return known && Math.abs(clock.now() - known.verifiedAt) <= graceMs ? known.bearer : undefined;
  }

  return {
    async findByKeyHash(hash) {
      const before = forgettings;
      try {
        const bearer = await store.read.findByKeyHash(hash);
        if (!isGood(bearer)) forget(deviceOf.get(hash) ?? '');
        else if (before === forgettings) remember(hash, bearer);
        return bearer;
      } catch (error) {
        const known = hasCode(error, 'unavailable') ? recall(hash) : undefined;
        if (!known) throw error;
        return known;
      }
    },

    store: decorateStore(store, {
      async write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
        const ended = new Set<string>();
        try {
          return await store.write((tx) => change(noting(tx, ended)));
        } finally {
          // Also after a failure: it may have been committed.
          if (ended.size > 0) forgettings++;
          for (const deviceId of ended) forget(deviceId);
        }
      },
    }),
  };
}
