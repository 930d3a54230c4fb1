import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';
import { readDeviceProfile } from '../simulate/device-profiles.ts';
import type { TvOptions } from './tv-options.ts';

const defaultProfile = 'samsung-tizen';
const members = [
  'manufacturer',
  'model',
  'osVersion',
  'appVersion',
  'macAddress',
  'ipAddress',
  'deviceName',
  'locationHint',
] as const;

/**
 * Returns the device info of the TV. Flags override single members of `--profile`, the saved info
 * or the default profile.
 */
export async function readDeviceInfo(
  options: TvOptions,
  saved: DeviceInfoInput | undefined,
): Promise<DeviceInfoInput> {
  const given = Object.fromEntries(
    members.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
  const basis =
    options.profile === undefined && saved
      ? saved
      : await readDeviceProfile(options.profile ?? defaultProfile, '--profile');
  return { ...basis, ...given };
}
