import type { Clock } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import type { KeyHolder, Store } from '../../store/store.ts';
import type { ObservedStore, RowChange } from '../observed-store.ts';

/** Limit of remembered devices. The least recently verified one is evicted. */
const maxDevices = 100_000;

interface VerifiedKey {
  hash: string;
  holder: KeyHolder;
  verifiedAt: number;
}

/** Recently verified device keys, used while the store is unavailable (docs/protocol.md §2.1). */
export interface OfflineKeys {
  /**
   * Like `Reader.findByKeyHash`. If the store throws `unavailable`, returns a recently verified key
   * holder instead.
   */
  findByKeyHash(hash: string): Promise<KeyHolder | undefined>;
}

function isUsable(holder: KeyHolder | undefined): holder is KeyHolder & { device: object } {
  return (
    holder?.device !== undefined &&
    holder.key.state !== 'revoked' &&
    holder.screen?.deviceId === holder.device.id
  );
}

/** Returns the id of the device that a change deleted, or whose key it revoked. */
function revokedDevice(change: RowChange): string[] {
  if (change.table === 'devices' && change.isDeleted) return [change.id];
  const isRevoked = change.table === 'deviceKeys' && change.row?.state === 'revoked';
  return isRevoked && change.row ? [change.row.deviceId] : [];
}

/**
 * Remembers valid device keys for `maxAgeMs` after the store last confirmed them. An answer of the
 * store always takes precedence. A key that this instance revokes is forgotten before the
 * revocation is acknowledged.
 */
export function makeOfflineKeys(
  { read }: Pick<Store, 'read'>,
  onChange: ObservedStore['onChange'],
  { clock, maxAgeMs }: { clock: Clock; maxAgeMs: number },
): OfflineKeys {
  const byDevice = new Map<string, VerifiedKey>();
  const deviceOf = new Map<string, string>();
  /**
   * Number of transactions that revoked keys. If it grows during a look-up, the look-up may have
   * read the old state, and its result is not remembered.
   */
  let revocations = 0;

  function forget(deviceId: string): void {
    const entry = byDevice.get(deviceId);
    if (!entry) return;
    byDevice.delete(deviceId);
    deviceOf.delete(entry.hash);
  }

  function remember(hash: string, holder: KeyHolder & { device: { id: string } }): void {
    const { id } = holder.device;
    forget(id);
    byDevice.set(id, { hash, holder, verifiedAt: clock.now() });
    deviceOf.set(hash, id);
    if (byDevice.size > maxDevices) forget(byDevice.keys().next().value as string);
  }

  function recall(hash: string): KeyHolder | undefined {
    const entry = byDevice.get(deviceOf.get(hash) ?? '');
    // If the clock is set back, a key must not be accepted for longer than `maxAgeMs`.
    return entry && Math.abs(clock.now() - entry.verifiedAt) <= maxAgeMs ? entry.holder : undefined;
  }

  onChange((rows) => {
    const revoked = rows.flatMap(revokedDevice);
    if (revoked.length > 0) revocations++;
    for (const deviceId of revoked) forget(deviceId);
  });

  return {
    async findByKeyHash(hash) {
      const before = revocations;
      try {
        const holder = await read.findByKeyHash(hash);
        if (!isUsable(holder)) forget(deviceOf.get(hash) ?? '');
        else if (before === revocations) remember(hash, holder);
        return holder;
      } catch (error) {
        const entry = hasCode(error, 'unavailable') ? recall(hash) : undefined;
        if (!entry) throw error;
        return entry;
      }
    },
  };
}
