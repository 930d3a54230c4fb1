import type { Reader } from '../../api/client.ts';
import { type Column, member, type View } from '../../output/view.ts';
import type { Device } from '../find.ts';
import { screenPath, screenPaths } from '../screen-path.ts';

type Info = keyof Device['deviceInfo'];

const info = (name: Info, more: { wide?: boolean } = {}): Column<Device> => ({
  name,
  value: ({ deviceInfo }) => deviceInfo[name],
  ...more,
});

function makeView(nameOfScreen: (screenId: string) => string): View<Device> {
  const wide = { wide: true };
  return {
    columns: [
      { name: 'screen', value: ({ screenId }) => nameOfScreen(screenId) },
      info('model'),
      info('appVersion'),
      member('state'),
      member('online'),
      member('lastSeenAt'),
      member('id', wide),
      member('screenId', wide),
      info('manufacturer', wide),
      info('osVersion', wide),
      info('deviceName', wide),
      info('locationHint', wide),
      info('macAddress', wide),
      info('ipAddress', wide),
      member('lastAddress', wide),
      member('lastPlaylistAt', wide),
      member('lastPlaylistVersion', wide),
      member('lastPlaylistStatus', wide),
      member('lastConfigAt', wide),
      member('lastEventAt', wide),
      member('lastRefusedAt', wide),
      member('suspendedAt', wide),
      member('suspendReason', wide),
      member('createdAt', wide),
    ],
    nameOf: ({ id }) => id,
  };
}

/** The view of devices of a venue, or of all devices. Fetches the names of the screens. */
export const devicesView =
  (reader: Reader, venueId?: string) => async (): Promise<View<Device>> => {
    const names = await screenPaths(reader, venueId);
    return makeView((screenId) => names.get(screenId) ?? screenId);
  };

/** The view of the devices of one screen. Fetches its name. */
export const devicesOfScreenView =
  (reader: Reader, screenId: string) => async (): Promise<View<Device>> => {
    const name = await screenPath(
      reader,
      await reader.read('getScreen', { params: { id: screenId } }),
    );
    return makeView(() => name);
  };
