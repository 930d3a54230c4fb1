import type { CallAnswer, ListItem } from '../../../client/call.ts';
import type { Reader } from '../../api/client.ts';
import { type Column, member, type View } from '../../output/view.ts';
import { isPrintable } from '../../terminal/escape.ts';

export type MirrorCopy = ListItem<'listMirror'>;

/** The view of copies, by the full names of their screens. Fetches the names of the venues. */
export const copiesView = (reader: Reader) => async (): Promise<View<MirrorCopy>> => {
  const names = new Map((await reader.all('listVenues')).map(({ id, name }) => [id, name]));
  const venueName = (venueId: string) => names.get(venueId) ?? venueId;
  const venue: Column<MirrorCopy> = { name: 'venue', value: ({ venueId }) => venueName(venueId) };
  return {
    columns: [
      venue,
      { name: 'screen', value: ({ screenName }) => screenName },
      member('version'),
      member('copiedVersion'),
      member('state'),
      member('queuedAt'),
      member('screenId', { wide: true }),
      member('venueId', { wide: true }),
    ],
    nameOf({ screenId, venueId, screenName }) {
      const full = `${venueName(venueId)}/${screenName}`;
      return isPrintable(full) ? full : screenId;
    },
  };
};

export const repairView: View<CallAnswer<'repairMirror'>> = {
  columns: [member('queued')],
  nameOf: ({ queued }) => String(queued),
};
