import { deviceKeyHash, type VerifiedHashes } from '../../domain/api-key.ts';
import { hasCode } from '../../domain/error.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import {
  type ClientInfo,
  type DevicePrincipal,
  deviceActor,
  type RequestSubject,
  type SystemDependencies,
} from '../context.ts';
import type { TrustedSources } from '../guesses/trusted-sources.ts';
import { deviceKeyError, type KeyCheck, recordKeyUse } from './device-keys.ts';
import type { OfflineKeys } from './offline-keys.ts';

/** Credential of a request of a TV. */
export interface DeviceCredential {
  authorization: string | undefined;
  /** Result of `deviceKeyHash`, if it was already computed. */
  keyHash?: string | undefined;
}

const isScreenOrDevice = (id: string, screen: Screen, device: Device) =>
  id === screen.id || id === device.id;

/**
 * Authenticates TVs. If several reasons for rejection apply, the first in the table of
 * docs/protocol.md §2.1 wins. With `offlineKeys`, read-only requests can be authenticated for a
 * while without the store.
 */
export function makeDeviceAuth(
  deps: SystemDependencies,
  trustedSources: TrustedSources,
  { verified, checkKey }: { verified: VerifiedHashes; checkKey: KeyCheck },
  offlineKeys?: OfflineKeys,
) {
  const { store, clock } = deps;

  function accept(principal: DevicePrincipal): DevicePrincipal {
    const { device, address, key } = principal;
    verified.set(key.hash, true);
    const nowMs = clock.now();
    store.touch('device', device.id, { lastSeenAt: nowMs, lastAddress: address });
    trustedSources.remember(address, device.tenantId, nowMs);
    return principal;
  }

  /**
   * Records the first use of a key. From then on, the response that issued the key is not repeated,
   * and all other keys of the device are revoked. A failed write does not block the request. Throws
   * `device_key_revoked` if the key was revoked meanwhile.
   */
  async function recordFirstUse({
    key,
    device,
    address,
    requestId,
  }: DevicePrincipal): Promise<void> {
    try {
      await store.write((tx) =>
        recordKeyUse(deps, tx, key, { address, requestId, actor: deviceActor(device) }, device),
      );
    } catch (error) {
      if (hasCode(error, 'device_key_revoked')) throw error;
    }
  }

  /**
   * Authenticates one request. `id` is the id in the path, of the screen or the device, in upper or
   * lower case. `onlyReads`: the request stores nothing. Sets the subject of the request in
   * `client`, even if it throws.
   */
  return async function authenticate(
    { authorization, keyHash }: DeviceCredential,
    { id, onlyReads }: { id: string; onlyReads: boolean },
    client: ClientInfo & RequestSubject,
  ): Promise<DevicePrincipal> {
    client.namedId = id;
    if (authorization === undefined) throw deviceKeyError('missing');
    const hash = keyHash ?? deviceKeyHash(authorization, verified);
    if (hash === undefined) throw deviceKeyError('invalid');
    const keys = onlyReads && offlineKeys ? offlineKeys : store.read;
    const holder = await keys.findByKeyHash(hash);
    client.place = holder?.device;
    const { key, device, screen } = checkKey(hash, holder);
    if (
      !isScreenOrDevice(id, screen, device) &&
      !isScreenOrDevice(id.toLowerCase(), screen, device)
    ) {
      verified.delete(hash);
      throw deviceKeyError('mismatch');
    }
    const { address, requestId } = client;
    const principal: DevicePrincipal = { address, requestId, key, device, screen };
    if (key.firstUsedAt === null) await recordFirstUse(principal);
    return accept(principal);
  };
}
