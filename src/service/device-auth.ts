import { hashKey, isKey } from '../domain/api-key.ts';
import { SignageError } from '../domain/error.ts';
import type { Device, DeviceKey, Screen } from '../domain/records.ts';
import { bearer } from './bearer.ts';
import type { Kit, Origin } from './context.ts';
import type { Trust } from './trust.ts';

/** A TV that has shown its key. */
export interface DeviceCaller extends Origin {
  device: Device;
  screen: Screen;
}

const reasons = {
  missing: 'Send the device key: Authorization: Bearer dak_…',
  invalid: 'This is no device key of this service: check the stored key, then pair again.',
  revoked: 'This device key was revoked: forget it and pair again.',
  orphaned: 'The screen of this device key is gone or has another device: forget the key and pair again.',
  mismatch: 'This device key is for another screen: keep the key, and use the screen’s id in the path.',
};

const refused = (reason: keyof typeof reasons) => new SignageError(`device_key_${reason}`, reasons[reason]);

/** Authenticates TVs. When several reasons to refuse hold, the first of the table in docs/protocol.md §2.1 answers. */
export function makeDeviceAuth(kit: Kit, trust: Trust) {
  const { store, clock } = kit;

  async function keyOf(authorization: string | undefined): Promise<DeviceKey> {
    if (authorization === undefined) throw refused('missing');
    const text = bearer(authorization);
    const key = text !== undefined && isKey('dak_', text) ? await store.read.find('deviceKeys', 'hash', hashKey(text)) : undefined;
    if (!key) throw refused('invalid');
    if (key.state === 'revoked') throw refused('revoked');
    return key;
  }

  /**
   * From its first use on, the registration that issued the key is not repeated. A store that cannot take this note just now does not
   * keep the TV from its playlist.
   */
  async function noteFirstUse(key: DeviceKey): Promise<void> {
    if (key.firstUsedAt !== null) return;
    const note = store.write(async (tx) => {
      const now = await tx.get('deviceKeys', key.id);
      if (now && now.firstUsedAt === null) await tx.put('deviceKeys', { ...now, firstUsedAt: tx.now });
    });
    await note.catch(() => undefined);
  }

  /** `id` is the one in the path: the screen's or the device's, in any case. */
  return async function authenticate(authorization: string | undefined, id: string, origin: Origin): Promise<DeviceCaller> {
    const key = await keyOf(authorization);
    const [device, screen] = await Promise.all([store.read.get('devices', key.deviceId), store.read.get('screens', key.screenId)]);
    if (!device || screen?.deviceId !== device.id) throw refused('orphaned');
    const named = id.toLowerCase();
    if (named !== screen.id && named !== device.id) throw refused('mismatch');
    await noteFirstUse(key);
    store.touch('device', device.id, { lastSeenAt: clock.now(), lastAddress: origin.address });
    trust.remember(origin.address, device.tenantId);
    return { ...origin, device, screen };
  };
}
