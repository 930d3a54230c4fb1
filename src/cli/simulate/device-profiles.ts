import { readdir, readFile } from 'node:fs/promises';
import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';
import { usage } from '../options/settings.ts';

const folder = new URL('../../../fixtures/devices/', import.meta.url);

/** Returns the names of the TV models in the package. */
export async function deviceProfileNames(): Promise<string[]> {
  const files = await readdir(folder);
  return files.map((file) => file.replace(/\.json$/, '')).sort();
}

/** Reads the device info of a TV model. Throws `usage` with all names. */
export async function readDeviceProfile(name: string, flag: string): Promise<DeviceInfoInput> {
  const names = await deviceProfileNames();
  if (!names.includes(name))
    throw usage(`${flag} must be one of ${names.join(', ')}, not "${name}".`);
  return JSON.parse(await readFile(new URL(`${name}.json`, folder), 'utf8')) as DeviceInfoInput;
}

/** Reads the device info of several TV models. Default: all. */
export async function readDeviceProfiles(
  names: readonly string[] | undefined,
  flag: string,
): Promise<DeviceInfoInput[]> {
  const selected = names ?? (await deviceProfileNames());
  return Promise.all(selected.map((name) => readDeviceProfile(name, flag)));
}
