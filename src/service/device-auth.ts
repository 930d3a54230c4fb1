import { hashKey, isKey } from '../domain/api-key.ts';
import { hasCode } from '../domain/error.ts';
import type { Device, DeviceKey, Screen } from '../domain/records.ts';
import type { KeyBearer, Reader } from '../store/store.ts';
import { bearer } from './bearer.ts';
import type { Kit, Origin } from './context.ts';
import { byDevice, refused, useKey } from './device-keys.ts';
import type { KeyGrace } from './key-grace.ts';
import type { Trust } from './trust.ts';

/** A TV that has shown its key. */
export interface DeviceCaller extends Origin {
  key: DeviceKey;
  device: Device;
  screen: Screen;
}

/**
 * Authenticates TVs. When several reasons to refuse hold, the first of the table in docs/protocol.md §2.1 answers. With `grace`, those who only read need
 * no store for a while.
 */
export function makeDeviceAuth(kit: Kit, trust: Trust, grace?: KeyGrace) {
  const { store, clock } = kit;

  async function bearerOf(authorization: string | undefined, keys: Pick<Reader, 'keyBearer'>): Promise<KeyBearer> {
    if (authorization === undefined) throw refused('missing');
    const text = bearer(authorization);
    const found = text !== undefined && isKey('dak_', text) ? await keys.keyBearer(hashKey(text)) : undefined;
    if (!found) throw refused('invalid');
    if (found.key.state !== 'revoked') return found;
    // A device that was deleted has no marks.
    if (found.device) store.touch('device', found.device.id, { lastRefusedAt: clock.now() });
    throw refused('revoked');
  }

  /**
   * From its first use on, the answer that issued the key is not repeated, and the key that it takes the place of is dead. A store that cannot
   * take this note just now does not keep the TV from its playlist.
   */
  async function noteFirstUse(key: DeviceKey, device: Device, origin: Origin): Promise<void> {
    if (key.firstUsedAt !== null) return;
    try {
      await store.write((tx) => useKey(kit, tx, key, { ...origin, actor: byDevice(device) }, device));
    } catch (error) {
      if (hasCode(error, 'device_key_revoked')) throw error;
    }
  }

  /** `id` is the one in the path: the screen's or the device's, in any case; `onlyReads` says that nothing is to be stored for the TV. */
  return async function authenticate(
    authorization: string | undefined,
    { id, onlyReads }: { id: string; onlyReads: boolean },
    origin: Origin,
  ): Promise<DeviceCaller> {
    const { key, device, screen } = await bearerOf(authorization, onlyReads && grace ? grace : store.read);
    if (!device || screen?.deviceId !== device.id) throw refused('orphaned');
    const named = id.toLowerCase();
    if (named !== screen.id && named !== device.id) throw refused('mismatch');
    await noteFirstUse(key, device, origin);
    store.touch('device', device.id, { lastSeenAt: clock.now(), lastAddress: origin.address });
    trust.remember(origin.address, device.tenantId);
    return { ...origin, key, device, screen };
  };
}
