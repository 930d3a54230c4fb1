import { hoursText } from '../../../domain/hours/hours-text.ts';
import type { Reader } from '../../api/client.ts';
import type { View } from '../../output/view.ts';
import { members, wideMembers } from '../../output/view.ts';
import { isPrintable } from '../../terminal/escape.ts';
import type { Screen, Tenant, Venue } from '../find.ts';
import { typedName, venueName, venueNames } from '../names.ts';

export const tenantView: View<Tenant> = {
  columns: [...members<Tenant>('name', 'id'), ...wideMembers<Tenant>('createdAt', 'updatedAt')],
  nameOf: typedName,
};

export const venueView: View<Venue> = {
  columns: [
    ...members<Venue>('name', 'address', 'timezone', 'labels'),
    { name: 'hours', value: ({ hours }) => hours && hoursText(hours), wide: true },
    ...wideMembers<Venue>('id', 'createdAt', 'updatedAt'),
  ],
  nameOf: typedName,
};

function screenView(venueOf: (venueId: string) => string): View<Screen> {
  return {
    columns: [
      { name: 'venue', value: ({ venueId }) => venueOf(venueId) },
      ...members<Screen>('name', 'state'),
      { name: 'code', value: ({ provisioningCode }) => provisioningCode?.status },
      ...members<Screen>('labels'),
      { name: 'hours', value: ({ hours }) => hours && hoursText(hours), wide: true },
      ...wideMembers<Screen>('deviceId', 'id', 'venueId', 'createdAt', 'updatedAt'),
    ],
    nameOf({ id, venueId, name }) {
      const full = `${venueOf(venueId)}/${name}`;
      return isPrintable(full) ? full : id;
    },
  };
}

/** Returns the view of screens of all venues. Fetches the names of the venues. */
export const screensView = (reader: Reader) => async (): Promise<View<Screen>> => {
  const names = await venueNames(reader);
  return screenView((venueId) => names.get(venueId) ?? venueId);
};

/** Returns the view of screens of one venue. Fetches the name of the venue. */
export const screensOfVenueView =
  (reader: Reader, venueId: string) => async (): Promise<View<Screen>> => {
    const name = await venueName(reader, venueId);
    return screenView(() => name);
  };
