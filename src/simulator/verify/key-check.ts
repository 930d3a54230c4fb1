import type { DeviceClient } from '../../client/device-client.ts';
import { forEachBounded } from '../../domain/concurrency.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { PlayerState } from '../../player/state.ts';
import type { DeviceLedger } from './device-ledger.ts';
import type { FleetLedger } from './ledger.ts';

/** The result of checking the keys of all TVs. */
export interface KeyBalance {
  /** Number of TVs that have a key, and whose device was not revoked. */
  tvs: number;
  /** Number of keys ever issued to the checked devices. */
  issued: number;
  /**
   * Number of keys that work. Expected: one for each TV, and one more for each TV in `underWay`.
   */
  working: number;
  /** Number of TVs with a pending key rotation and two working keys. */
  underWay: number;
}

export interface KeyProbe {
  /** A client without a key. */
  client: DeviceClient;
  ledger: FleetLedger;
  /** The saved states of the TVs. */
  states: readonly (PlayerState | undefined)[];
  /**
   * Aborts the check when the run is interrupted, because the cleanup then deletes devices and
   * their keys at the same time.
   */
  signal: AbortSignal;
}

/**
 * An id that no device has. The service answers `device_key_mismatch` to a working key, without
 * counting the request as a use of the key (docs/protocol.md §2.8).
 */
const unusedId = '00000000-0000-0000-0000-000000000000';
const concurrentDevices = 32;

async function works({ client, signal }: KeyProbe, apiKey: string): Promise<boolean> {
  try {
    await client.withKey(apiKey).fetchConfig(unusedId, { signal });
    return true;
  } catch (error) {
    if (hasCode(error, 'device_key_mismatch')) return true;
    if (error instanceof SignageError && error.status === 401) return false;
    throw error;
  }
}

/**
 * Whether a rotation may be pending. The old key then still works, because the new key was not used
 * yet.
 */
function isRotating({ rotating }: PlayerState, device: DeviceLedger, own: string): boolean {
  return rotating !== undefined || device.keys.get(own) === false;
}

/** Returns the complaint about the keys of a TV, or `undefined` if they are correct. */
function complaintOf(
  own: string,
  isRotationPending: boolean,
  working: ReadonlySet<string>,
): [code: string, what: string] | undefined {
  if (!working.has(own)) return ['no_working_key', 'The key of the TV does not work'];
  if (working.size > (isRotationPending ? 2 : 1))
    return ['several_working_keys', `${working.size} keys work instead of one`];
  return undefined;
}

/**
 * Checks, for each device, which of the keys ever issued to it work. Adds violations to the
 * findings of the ledger.
 */
export async function checkKeys(check: KeyProbe): Promise<KeyBalance> {
  const { ledger, states } = check;
  const balance: KeyBalance = { tvs: 0, issued: 0, working: 0, underWay: 0 };
  const savedStates = new Map(
    states.flatMap((state) => (state?.binding ? [[state.binding.deviceId, state] as const] : [])),
  );
  await forEachBounded([...ledger.devices], concurrentDevices, async (device) => {
    const state = savedStates.get(device.deviceId);
    const own = state?.binding?.apiKey;
    if (!device.isRevoked && own === undefined) return;
    const working = new Set<string>();
    for (const key of device.keys.keys()) if (await works(check, key)) working.add(key);
    balance.issued += device.keys.size;
    balance.working += working.size;
    const add = (code: string, what: string) =>
      ledger.findings.add(code, `${what}: device ${device.deviceId}.`);
    if (device.isRevoked) {
      if (working.size > 0) add('revoked_key_accepted', 'A key of a revoked device works');
      return;
    }
    balance.tvs++;
    const isRotationPending = isRotating(state as PlayerState, device, own as string);
    if (isRotationPending && working.size === 2) balance.underWay++;
    const complaint = complaintOf(own as string, isRotationPending, working);
    if (complaint) add(...complaint);
  });
  return balance;
}
