import { SignageError } from '../../domain/error.ts';
import type { Device, DeviceKey } from '../../domain/records/rows.ts';
import type { KeyHolder, Tx } from '../../store/store.ts';
import {
  type AuditActor,
  type Change,
  type DeviceCaller,
  recordChange,
  type ServiceDependencies,
} from '../context.ts';

/** So many dead keys of a device are remembered, to be told that they are dead: a key may change every day, for years. */
const rememberedDead = 4;

const reasons = {
  missing: 'Send the device key: Authorization: Bearer dak_…',
  invalid: 'This is no device key of this service: check the stored key, then pair again.',
  revoked: 'This device key was revoked: forget it and pair again.',
  orphaned:
    'The screen of this device key is gone or has another device: forget the key and pair again.',
  mismatch:
    'This device key is for another screen: keep the key, and use the screen’s id in the path.',
};

/** What a device key is refused with (docs/protocol.md §2.1). */
export const refused = (reason: keyof typeof reasons) =>
  new SignageError(`device_key_${reason}`, reasons[reason]);

/** Throws `device_key_invalid`, `device_key_revoked`, `device_key_orphaned`. */
export function checkKeyHolder(
  found: KeyHolder | undefined,
): asserts found is Pick<DeviceCaller, 'key' | 'device' | 'screen'> {
  if (!found) throw refused('invalid');
  const { key, device, screen } = found;
  if (key.state === 'revoked') throw refused('revoked');
  if (!device || screen?.deviceId !== device.id) throw refused('orphaned');
}

/** A device as the one who makes a change. */
export const byDevice = ({ id, deviceInfo }: Device) => ({
  kind: 'device' as const,
  id,
  name: deviceInfo.deviceName,
});

/** A change of a device's keys, for the audit trail. */
export function keyChange(
  verb: 'rotate' | 'activate',
  { id, tenantId, venueId, screenId }: Device,
): Change {
  return {
    action: `key.${verb}`,
    subject: { kind: 'device', id },
    tenantId,
    venueIds: [venueId],
    details: { screenId },
  };
}

/** Ends keys, for good. */
export async function endKeys(tx: Tx, keys: readonly DeviceKey[]): Promise<void> {
  for (const key of keys)
    if (key.state !== 'revoked')
      await tx.put('deviceKeys', { ...key, state: 'revoked', revokedAt: tx.now });
}

/** Forgets the dead keys of a device, but for the latest few. */
export async function forgetDead(tx: Tx, deviceId: string): Promise<void> {
  const dead = (await tx.select('deviceKeys', 'deviceId', [deviceId])).filter(
    (key) => key.state === 'revoked',
  );
  dead.sort((a, b) => (a.revokedAt ?? 0) - (b.revokedAt ?? 0));
  for (const key of dead.slice(0, -rememberedDead)) await tx.delete('deviceKeys', key.id);
}

/**
 * Notes that a key has authenticated a request. With the first one it takes over: it alone is the device's key from then on (docs/protocol.md
 * §2.8); of several at the same moment, also on other instances, one does. Throws `device_key_revoked` when it died meanwhile.
 */
export async function useKey(
  deps: Pick<ServiceDependencies, 'newId'>,
  tx: Tx,
  { id, deviceId }: DeviceKey,
  by: AuditActor,
  device: Device,
): Promise<DeviceKey> {
  const key = await tx.get('deviceKeys', id);
  if (!key || key.state === 'revoked') throw refused('revoked');
  if (key.firstUsedAt !== null) return key;
  const used: DeviceKey = { ...key, firstUsedAt: tx.now };
  await tx.put('deviceKeys', used);
  const others = (await tx.select('deviceKeys', 'deviceId', [deviceId])).filter(
    (other) => other.id !== id && other.state !== 'revoked',
  );
  if (others.length === 0) return used;
  await endKeys(tx, others);
  await forgetDead(tx, deviceId);
  await recordChange(deps, tx, by, keyChange('activate', device));
  return used;
}
