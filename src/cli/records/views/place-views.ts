import type { Screen, Tenant, Venue } from '../../../client/entities.ts';
import type { ServiceReader } from '../../connection/client.ts';
import type { Column, View } from '../../output/view.ts';
import { members, wideMembers } from '../../output/view.ts';
import { isPrintable } from '../../terminal/escape.ts';
import { typedName, venueName, venueNames } from '../names.ts';
import { placeColumns } from '../place-members.ts';

export const tenantView: View<Tenant> = {
  columns: [...members<Tenant>('name', 'id'), ...wideMembers<Tenant>('createdAt', 'updatedAt')],
  nameOf: typedName,
};

export const venueView: View<Venue> = {
  columns: [
    ...members<Venue>('name'),
    ...placeColumns('venue', 'shown'),
    ...members<Venue>('labels'),
    ...placeColumns('venue', 'wide'),
    ...wideMembers<Venue>('id', 'createdAt', 'updatedAt'),
  ],
  nameOf: typedName,
};

/** Makes the view of screens. `more` columns follow the state. */
export function screenView<T extends Screen>(
  venueOf: (screen: T) => string,
  more: readonly Column<T>[] = [],
): View<T> {
  return {
    columns: [
      { name: 'venue', value: venueOf },
      ...members<T>('name', 'state'),
      ...more,
      { name: 'code', value: ({ provisioningCode }) => provisioningCode?.status },
      ...placeColumns('screen', 'shown'),
      ...members<T>('labels'),
      ...placeColumns('screen', 'wide'),
      ...wideMembers<T>('deviceId', 'id', 'venueId', 'createdAt', 'updatedAt'),
    ],
    nameOf(screen) {
      const full = `${venueOf(screen)}/${screen.name}`;
      return isPrintable(full) ? full : screen.id;
    },
  };
}

/** Returns the view of screens of all venues. Fetches the names of the venues. */
export const screensView = (reader: ServiceReader) => async (): Promise<View<Screen>> => {
  const names = await venueNames(reader);
  return screenView(({ venueId }) => names.get(venueId) ?? venueId);
};

/** Returns the view of screens of one venue. Fetches the name of the venue. */
export const screensOfVenueView =
  (reader: ServiceReader, venueId: string) => async (): Promise<View<Screen>> => {
    const name = await venueName(reader, venueId);
    return screenView(() => name);
  };
