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

/** How screens of any venue are shown: the venues' names are fetched for it. */
export const screensView = (reader: Reader) => async (): Promise<View<Screen>> => {
  const names = new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
  return makeView((venueId) => names.get(venueId) ?? venueId);
};

/** How the screens of one venue are shown. */
export const screensOfVenueView =
  (reader: Reader, venueId: string) => async (): Promise<View<Screen>> => {
    const { name } = await reader.read('getVenue', { params: { id: venueId } });
    return makeView(() => name);
  };
