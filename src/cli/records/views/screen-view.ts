import type { Reader } from '../../api/client.ts';
import { type Column, member, type View } from '../../output/view.ts';
import { isPrintable } from '../../terminal/escape.ts';
import type { Screen } from '../find.ts';

function makeView(venueName: (venueId: string) => string): View<Screen> {
  const venue: Column<Screen> = { name: 'venue', value: ({ venueId }) => venueName(venueId) };
  const code: Column<Screen> = {
    name: 'code',
    value: ({ provisioningCode }) => provisioningCode?.status,
  };
  return {
    columns: [
      venue,
      member('name'),
      member('state'),
      code,
      member('labels'),
      member('deviceId', { wide: true }),
      member('id', { wide: true }),
      member('venueId', { wide: true }),
      member('createdAt', { wide: true }),
      member('updatedAt', { wide: true }),
    ],
    nameOf({ id, venueId, name }) {
      const full = `${venueName(venueId)}/${name}`;
      return isPrintable(full) ? full : id;
    },
  };
}

/** The view of screens of all venues. Fetches the names of the venues. */
export const screensView = (reader: Reader) => async (): Promise<View<Screen>> => {
  const names = new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
  return makeView((venueId) => names.get(venueId) ?? venueId);
};

/** The view of screens of one venue. Fetches its name. */
export const screensOfVenueView =
  (reader: Reader, venueId: string) => async (): Promise<View<Screen>> => {
    const { name } = await reader.read('getVenue', { params: { id: venueId } });
    return makeView(() => name);
  };
