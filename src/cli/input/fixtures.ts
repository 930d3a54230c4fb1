import type { DeviceInfoInput } from '../../client/entities.ts';
import { assetNames, readAsset } from '../../package/assets.ts';
import { usage } from './settings.ts';

const endings = { devices: '.json', playlists: '.json', scenarios: '.yaml' };

export function fixtureNames(folder: keyof typeof endings): string[] {
  const ending = endings[folder];
  const names = assetNames(folder).filter((file) => file.endsWith(ending));
  return names.map((file) => file.slice(0, -ending.length));
}

export const readFixture = (folder: keyof typeof endings, name: string): string =>
  readAsset(folder, name + endings[folder]).toString();

/** Reads the device info of a TV model. Throws `usage` with a list of all models. */
export function readDeviceProfile(name: string, flag: string): DeviceInfoInput {
  const names = fixtureNames('devices');
  if (!names.includes(name))
    throw usage(`${flag} must be one of ${names.join(', ')}, not "${name}".`);
  return JSON.parse(readFixture('devices', name)) as DeviceInfoInput;
}

/** Reads the device info of several TV models. Default: all. */
export function readDeviceProfiles(
  names: readonly string[] | undefined,
  flag: string,
): DeviceInfoInput[] {
  const selected = names ?? fixtureNames('devices');
  return selected.map((name) => readDeviceProfile(name, flag));
}
