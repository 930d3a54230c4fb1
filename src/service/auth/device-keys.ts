import type { VerifiedHashes } from '../../domain/api-key.ts';
import { SignageError } from '../../domain/error.ts';
import type { Device, DeviceKey } from '../../domain/records/rows.ts';
import type { KeyHolder, Tx } from '../../store/store.ts';
import {
  type AuditActor,
  type AuditChange,
  type DevicePrincipal,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';

/**
 * Number of revoked keys kept per device, so that requests with them get `device_key_revoked`. It
 * is limited, because a key may rotate daily for years.
 */
const keptRevokedKeys = 4;

const reasons = {
  missing: 'Send the device key: Authorization: Bearer dak_…',
  invalid: 'Unknown device key: check the stored key, then pair again.',
  revoked: 'This device key was revoked: delete it and pair again.',
  orphaned:
    'The screen of this device key was deleted or has another device: delete the key and pair again.',
  mismatch:
    'This device key belongs to another screen: keep the key, and use the screen’s id in the path.',
};

/** Returns the error for a rejected device key (docs/protocol.md §2.1). */
export const deviceKeyError = (reason: keyof typeof reasons) =>
  new SignageError(`device_key_${reason}`, reasons[reason]);

/** Throws `device_key_invalid`, `device_key_revoked`, `device_key_orphaned`. */
export function checkKeyHolder(
  holder: KeyHolder | undefined,
): asserts holder is Pick<DevicePrincipal, 'key' | 'device' | 'screen'> {
  if (!holder) throw deviceKeyError('invalid');
  const { key, device, screen } = holder;
  if (key.state === 'revoked') throw deviceKeyError('revoked');
  if (!device || screen?.deviceId !== device.id) throw deviceKeyError('orphaned');
}

/** Returns `holder` if its key is valid. Throws the errors of `checkKeyHolder`. */
export type KeyCheck = (
  keyHash: string,
  holder: KeyHolder | undefined,
) => Pick<DevicePrincipal, 'key' | 'device' | 'screen'>;

/**
 * Returns the check of device keys. The check also records the use of a revoked key. A rejected
 * client that retries must not be prioritized like a TV, so the check removes its hash from
 * `verified`.
 */
export function makeKeyCheck(
  { store, clock }: Pick<ServiceDependencies, 'store' | 'clock'>,
  verified: VerifiedHashes,
): KeyCheck {
  return (keyHash, holder) => {
    // A deleted device has no activity record to update.
    if (holder?.key.state === 'revoked' && holder.device)
      store.touch('device', holder.device.id, { lastRefusedAt: clock.now() });
    try {
      checkKeyHolder(holder);
    } catch (error) {
      verified.delete(keyHash);
      throw error;
    }
    return holder;
  };
}

/** Describes a change of a device's keys for the audit trail. */
export function keyChange(
  verb: 'rotate' | 'activate',
  { id, tenantId, venueId, screenId }: Device,
): AuditChange {
  return {
    action: `key.${verb}`,
    subject: { kind: 'device', id },
    tenantId,
    venueIds: [venueId],
    details: { screenId },
  };
}

/** Revokes keys permanently. */
export async function revokeKeys(tx: Tx, keys: readonly DeviceKey[]): Promise<void> {
  for (const key of keys)
    if (key.state !== 'revoked')
      await tx.put('deviceKeys', { ...key, state: 'revoked', revokedAt: tx.now });
}

/** Deletes the revoked keys of a device, except the latest few. */
export async function purgeRevokedKeys(tx: Tx, deviceId: string): Promise<void> {
  const revoked = (await tx.select('deviceKeys', 'deviceId', [deviceId])).filter(
    (key) => key.state === 'revoked',
  );
  revoked.sort((a, b) => (a.revokedAt ?? 0) - (b.revokedAt ?? 0));
  for (const key of revoked.slice(0, -keptRevokedKeys)) await tx.delete('deviceKeys', key.id);
}

/**
 * Records that a key authenticated a request. Its first use revokes all other keys of the device
 * (docs/protocol.md §2.8). If several first uses are concurrent, even on different instances, only
 * one of them revokes the others. Throws `device_key_revoked` if the key was revoked meanwhile.
 */
export async function recordKeyUse(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  { id, deviceId }: DeviceKey,
  auditActor: AuditActor,
  device: Device,
): Promise<DeviceKey> {
  const key = await tx.get('deviceKeys', id);
  if (!key || key.state === 'revoked') throw deviceKeyError('revoked');
  if (key.firstUsedAt !== null) return key;
  const usedKey: DeviceKey = { ...key, firstUsedAt: tx.now };
  await tx.put('deviceKeys', usedKey);
  const others = (await tx.select('deviceKeys', 'deviceId', [deviceId])).filter(
    (other) => other.id !== id && other.state !== 'revoked',
  );
  if (others.length === 0) return usedKey;
  await revokeKeys(tx, others);
  await purgeRevokedKeys(tx, deviceId);
  await recordChange(deps, tx, auditActor, keyChange('activate', device));
  return usedKey;
}
