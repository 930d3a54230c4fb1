import { deriveNextKey, hashKey, makeKey } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import type { RotatedView } from '../../domain/records/device.ts';
import type { DeviceKey } from '../../domain/records/rows.ts';
import type { Tx } from '../../store/store.ts';
import {
  type DevicePrincipal,
  deviceActor,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';
import { keyChange, purgeRevokedKeys, recordKeyUse, revokeKeys } from './device-keys.ts';

const replaced = () =>
  new SignageError(
    'idempotency_key_reused',
    'The key issued for this Idempotency-Key was replaced: use a new Idempotency-Key for each rotation.',
  );

/** Rotates device keys (docs/protocol.md §2.8). */
export function makeKeyRotation(deps: ServiceDependencies) {
  const { store, random, newId } = deps;

  /**
   * Returns the pending key that an earlier request with this caller's key and `Idempotency-Key`
   * got. Returns `undefined` if there is none. Keys are derived from the id of their row, so a key
   * whose row was purged cannot be repeated. Throws `idempotency_key_reused` if the issued key was
   * revoked.
   */
  function repeatedKey(
    principal: DeviceKey,
    others: readonly DeviceKey[],
    idempotencyKey: string,
  ): string | undefined {
    for (const { id, hash, state } of others) {
      const apiKey = deriveNextKey(store.secret, principal.id, id, idempotencyKey);
      if (hashKey(apiKey) !== hash) continue;
      if (state === 'revoked') throw replaced();
      return apiKey;
    }
    return undefined;
  }

  /**
   * Makes one atomic change: the caller's key becomes `retiring`, the new key is pending, and an
   * earlier pending key is revoked.
   */
  async function change(
    tx: Tx,
    principal: DevicePrincipal,
    idempotencyKey: string | undefined,
  ): Promise<string> {
    const { device } = principal;
    const auditActor = { ...principal, actor: deviceActor(device) };
    const key = await recordKeyUse(deps, tx, principal.key, auditActor, device);
    const others = (await tx.select('deviceKeys', 'deviceId', [device.id])).filter(
      ({ id }) => id !== key.id,
    );
    const issuedKey =
      idempotencyKey === undefined ? undefined : repeatedKey(key, others, idempotencyKey);
    if (issuedKey !== undefined) return issuedKey;
    await revokeKeys(tx, others);
    await tx.put('deviceKeys', { ...key, state: 'retiring' });
    const { tenantId, deviceId, screenId } = key;
    const id = newId();
    const apiKey =
      idempotencyKey === undefined
        ? makeKey('dak_', random)
        : deriveNextKey(store.secret, key.id, id, idempotencyKey);
    const next: DeviceKey = {
      id,
      tenantId,
      deviceId,
      screenId,
      hash: hashKey(apiKey),
      state: 'active',
      createdAt: tx.stamp,
      firstUsedAt: null,
      revokedAt: null,
    };
    await tx.put('deviceKeys', next);
    await purgeRevokedKeys(tx, device.id);
    await recordChange(deps, tx, auditActor, keyChange('rotate', device));
    return apiKey;
  }

  /**
   * Issues a new key, which works when the promise resolves. The caller's key works until the first
   * use of the new key. Until then, the same `Idempotency-Key` gets the same new key. Throws
   * `device_key_revoked` if the caller's key was revoked meanwhile, or `idempotency_key_reused`.
   */
  return async function rotate(
    principal: DevicePrincipal,
    idempotencyKey: string | undefined,
  ): Promise<RotatedView> {
    return { apiKey: await deps.write(principal, (tx) => change(tx, principal, idempotencyKey)) };
  };
}
