import type { StoredEventView as StoredEvent } from '../../../domain/events/event.ts';
import type { Reader } from '../../api/client.ts';
import { shownEpoch } from '../../options/time.ts';
import { type Column, member, type View } from '../../output/view.ts';
import { screenPaths } from '../screen-path.ts';

const ofEvent = (name: string, more: { wide?: boolean } = {}): Column<StoredEvent> => ({
  name,
  value: ({ event }) => event[name],
  ...more,
});

/** These have columns of their own. */
const shown = ['type', 'timestamp', 'playlistId', 'campaignId', 'creativeId'];

/** What else the event says: `duration=15 message="no picture"`. */
function detail({ event }: StoredEvent): string {
  const rest = Object.entries(event).filter(([name]) => !shown.includes(name));
  return rest.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ');
}

/** How events are shown: the names of the screens are fetched for it. Those of a screen that is gone, or new, have its id. */
export const eventView = (reader: Reader) => async (): Promise<View<StoredEvent>> => {
  const names = await screenPaths(reader);
  return {
    columns: [
      member('receivedAt'),
      { name: 'screen', value: ({ screenId }) => names.get(screenId) ?? screenId },
      ofEvent('type'),
      { name: 'detail', value: detail },
      ofEvent('creativeId', { wide: true }),
      ofEvent('campaignId', { wide: true }),
      ofEvent('playlistId', { wide: true }),
      { name: 'timestamp', value: ({ event }) => shownEpoch(event.timestamp), wide: true },
      member('deviceId', { wide: true }),
      member('screenId', { wide: true }),
      member('id', { wide: true }),
    ],
    nameOf: ({ id }) => id,
  };
};
