import type { DeviceInfoInput } from '../../client/entities.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import { serviceAddress } from '../../client/transport.ts';
import { SignageError } from '../../domain/error.ts';
import { clientConnection } from '../api/connect.ts';
import { readAddress } from '../api/profile.ts';
import type { CommandContext } from '../command/context.ts';
import { readDeviceProfile } from '../simulate/fixtures.ts';
import type { SavedTv } from './state-file.ts';
import type { TvOptions } from './tv-options.ts';

/**
 * Returns the service that the TV is paired with, or registers with. Throws `state_of_elsewhere` if
 * `--url` names another service, which must not get the key.
 */
function pairedService(saved: SavedTv | undefined, { url, state }: TvOptions): string | undefined {
  if (!saved?.tv.binding && !saved?.tv.registering) return undefined;
  if (url === undefined || serviceAddress(url) === saved.service) return saved.service;
  throw new SignageError(
    'state_of_elsewhere',
    `The TV in ${state} is paired with ${saved.service}. Its key is not sent to ${url}.`,
    { hint: 'Leave out --url, or name another file with --state.' },
  );
}

/**
 * Connects to the paired service, else to the service of `--url`, else to the service of the
 * context. Uses no token.
 */
export async function tvService(
  call: CommandContext,
  options: TvOptions,
  saved: SavedTv | undefined,
): Promise<{ address: string; client: RuntimeClient }> {
  const url = pairedService(saved, options) ?? options.url;
  const address = await readAddress({ ...options, url }, call.io);
  const connection = await clientConnection(address, call, call.common.verbose);
  const client = new RuntimeClient({ ...connection, url: address.url.value });
  return { address: serviceAddress(address.url.value), client };
}

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
      : readDeviceProfile(options.profile ?? defaultProfile, '--profile');
  return { ...basis, ...given };
}
