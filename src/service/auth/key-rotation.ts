import { deriveNextKey, hashKey, makeKey } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import type { RotatedView } from '../../domain/records/device.ts';
import type { DeviceKey } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import { type DeviceCaller, recordChange, type ServiceDependencies } from '../context.ts';
import { byDevice, endKeys, forgetDead, keyChange, useKey } from './device-keys.ts';

const replaced = () =>
  new SignageError(
    'idempotency_key_reused',
    'Another new key has replaced the one of this Idempotency-Key: take another for each.',
  );

/** Gives devices new keys in place of those they have (docs/protocol.md §2.8). */
export function makeKeyRotation(deps: ServiceDependencies) {
  const { store, random, newId } = deps;

  /**
   * The key that this `Idempotency-Key` got before, from the same key, if it still waits. A key hangs on its own row: of one that was forgotten there is
   * nothing to repeat, and nothing to make it from again. Throws `idempotency_key_reused` when it is dead.
   */
  function repeated(
    caller: DeviceKey,
    others: readonly DeviceKey[],
    idempotencyKey: string,
  ): string | undefined {
    for (const { id, hash, state } of others) {
      const apiKey = deriveNextKey(store.secret, caller.id, id, idempotencyKey);
      if (hashKey(apiKey) !== hash) continue;
      if (state === 'revoked') throw replaced();
      return apiKey;
    }
    return undefined;
  }

  /** The one atomic change: the caller's key retires, the new one waits, and one that waited before is dead. */
  async function change(
    tx: Tx,
    caller: DeviceCaller,
    idempotencyKey: string | undefined,
  ): Promise<string> {
    const { device } = caller;
    const by = { ...caller, actor: byDevice(device) };
    const key = await useKey(deps, tx, caller.key, by, device);
    const others = (await tx.select('deviceKeys', 'deviceId', [device.id])).filter(
      ({ id }) => id !== key.id,
    );
    const known = idempotencyKey === undefined ? undefined : repeated(key, others, idempotencyKey);
    if (known !== undefined) return known;
    await endKeys(tx, others);
    await tx.put('deviceKeys', { ...key, state: 'retiring' });
    const { tenantId, deviceId, screenId } = key;
    const id = newId();
    const apiKey =
      idempotencyKey === undefined
        ? makeKey('dak_', random)
        : deriveNextKey(store.secret, key.id, id, idempotencyKey);
    const next: DeviceKey = {
      ...{ id, tenantId, deviceId, screenId, hash: hashKey(apiKey), state: 'active' },
      ...{ createdAt: tx.now, firstUsedAt: null, revokedAt: null },
    };
    await tx.put('deviceKeys', next);
    await forgetDead(tx, device.id);
    await recordChange(deps, tx, by, keyChange('rotate', device));
    return apiKey;
  }

  /**
   * The new key works when the promise resolves, and the caller's until the new one is first used; the same `Idempotency-Key` gets the same key
   * until then. Throws `device_key_revoked` when the caller's is dead by now, `idempotency_key_reused`.
   */
  return async function rotate(
    caller: DeviceCaller,
    idempotencyKey: string | undefined,
  ): Promise<RotatedView> {
    return { apiKey: await deps.write(caller, (tx) => change(tx, caller, idempotencyKey)) };
  };
}
