import { readdir, readFile } from 'node:fs/promises';
import type { DeviceInfoInput } from '../../simulator/tv/device-info.ts';
import { usage } from '../options/settings.ts';

const folder = new URL('../../../fixtures/devices/', import.meta.url);

/** The names of the TVs that the package comes with. */
export async function deviceProfileNames(): Promise<string[]> {
  const files = await readdir(folder);
  return files.map((file) => file.replace(/\.json$/, '')).sort();
}

/** What the TV of this name says of itself. Throws `usage` with the names there are. */
export async function readDeviceProfile(name: string, flag: string): Promise<DeviceInfoInput> {
  const names = await deviceProfileNames();
  if (!names.includes(name))
    throw usage(`${flag} must be one of ${names.join(', ')}, not "${name}".`);
  return JSON.parse(await readFile(new URL(`${name}.json`, folder), 'utf8')) as DeviceInfoInput;
}

/** Likewise of several; of all there are when none is named. */
export async function readDeviceProfiles(
  names: readonly string[] | undefined,
  flag: string,
): Promise<DeviceInfoInput[]> {
  const wanted = names ?? (await deviceProfileNames());
  return Promise.all(wanted.map((name) => readDeviceProfile(name, flag)));
}
