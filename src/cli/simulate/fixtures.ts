import { readdir, readFile } from 'node:fs/promises';
import type { DeviceInfoInput } from '../../client/entities.ts';
import { usage } from '../options/settings.ts';

const root = new URL('../../../fixtures/', import.meta.url);
const endings = { devices: '.json', playlists: '.json', scenarios: '.yaml' };

export async function fixtureNames(folder: keyof typeof endings): Promise<string[]> {
  const ending = endings[folder];
  const files = await readdir(new URL(folder, root));
  const names = files.filter((file) => file.endsWith(ending));
  return names.map((file) => file.slice(0, -ending.length)).sort();
}

export const fixtureFile = (folder: keyof typeof endings, name: string) =>
  new URL(`${folder}/${name}${endings[folder]}`, root);

/** Reads the device info of a TV model. Throws `usage` with a list of all models. */
export async function readDeviceProfile(name: string, flag: string): Promise<DeviceInfoInput> {
  const names = await fixtureNames('devices');
  if (!names.includes(name))
    throw usage(`${flag} must be one of ${names.join(', ')}, not "${name}".`);
  return JSON.parse(await readFile(fixtureFile('devices', name), 'utf8')) as DeviceInfoInput;
}

/** Reads the device info of several TV models. Default: all. */
export async function readDeviceProfiles(
  names: readonly string[] | undefined,
  flag: string,
): Promise<DeviceInfoInput[]> {
  const selected = names ?? (await fixtureNames('devices'));
  return Promise.all(selected.map((name) => readDeviceProfile(name, flag)));
}
