import type { VerifiedHashes } from '../../domain/api-key.ts';
import type { KeyHolder } from '../../store/store.ts';
import type { DeviceCaller, ServiceDependencies } from '../context.ts';
import { checkKeyHolder } from './device-keys.ts';

/** Returns `holder` if its key is valid. Throws the errors of `checkKeyHolder`. */
export type KeyCheck = (
  keyHash: string,
  holder: KeyHolder | undefined,
) => Pick<DeviceCaller, 'key' | 'device' | 'screen'>;

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
