import { hasCode } from '../../domain/error.ts';
import type { KnownHashes } from '../../domain/known-hashes.ts';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import type { Device, Screen } from '../../domain/records/rows.ts';
import type { KeyHolder } from '../../store/store.ts';
import type { ClientInfo, DeviceCaller, SystemDependencies } from '../context.ts';
import type { TrustedSources } from '../pairing/trusted-sources.ts';
import { byDevice, checkKeyHolder, refused, useKey } from './device-keys.ts';
import type { OfflineKeys } from './offline-keys.ts';

const isOneOf = (id: string, screen: Screen, device: Device) =>
  id === screen.id || id === device.id;

/**
 * Authenticates TVs. When several reasons to refuse hold, the first of the table in docs/protocol.md §2.1 answers. With `grace`, those who only read need
 * no store for a while.
 */
export function makeDeviceAuth(
  deps: SystemDependencies,
  trust: TrustedSources,
  known: KnownHashes,
  grace?: OfflineKeys,
) {
  const { store, clock } = deps;

  function admit(
    found: KeyHolder | undefined,
    id: string,
    origin: ClientInfo,
  ): MaybePromise<DeviceCaller> {
    // A device that was deleted has no marks.
    if (found?.key.state === 'revoked' && found.device)
      store.touch('device', found.device.id, { lastRefusedAt: clock.now() });
    checkKeyHolder(found);
    const { key, device, screen } = found;
    if (!isOneOf(id, screen, device) && !isOneOf(id.toLowerCase(), screen, device))
      throw refused('mismatch');
    const caller: DeviceCaller = {
      address: origin.address,
      requestId: origin.requestId,
      key,
      device,
      screen,
    };
    return key.firstUsedAt === null
      ? noteFirstUse(caller).then(() => welcome(caller))
      : welcome(caller);
  }

  function welcome(caller: DeviceCaller): DeviceCaller {
    const { device, address, key } = caller;
    known.add(key.hash);
    const nowMs = clock.now();
    store.touch('device', device.id, { lastSeenAt: nowMs, lastAddress: address });
    trust.remember(address, device.tenantId, nowMs);
    return caller;
  }

  /**
   * From its first use on, the answer that issued the key is not repeated, and the key that it takes the place of is dead. A store that cannot
   * take this note just now does not keep the TV from its playlist.
   */
  async function noteFirstUse({ key, device, address, requestId }: DeviceCaller): Promise<void> {
    try {
      await store.write((tx) =>
        useKey(deps, tx, key, { address, requestId, actor: byDevice(device) }, device),
      );
    } catch (error) {
      if (hasCode(error, 'device_key_revoked')) throw error;
    }
  }

  /**
   * `hash` is what `deviceKeyHeader` made of the header. `id` is the one in the path: the screen's or the device's, in any case; `onlyReads` says that nothing is
   * to be stored for the TV. Answers, or throws, at once where the store does.
   */
  return function authenticate(
    hash: string | undefined,
    { id, onlyReads }: { id: string; onlyReads: boolean },
    origin: ClientInfo,
  ): MaybePromise<DeviceCaller> {
    const keys = onlyReads && grace ? grace : store.read;
    if (hash === undefined) throw refused('invalid');
    return andThen(keys.findByKeyHash(hash), (found) => {
      // Until it is welcome: what is refused, and repeated, must not pass for a TV's.
      known.delete(hash);
      return admit(found, id, origin);
    });
  };
}
