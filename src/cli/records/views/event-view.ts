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

/** Members with their own columns. */
const ownColumns = ['type', 'timestamp', 'playlistId', 'campaignId', 'creativeId'];

/** Formats the other members: `duration=15 message="no picture"`. */
function detail({ event }: StoredEvent): string {
  const rest = Object.entries(event).filter(([name]) => !ownColumns.includes(name));
  return rest.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ');
}

/** The view of events. Fetches the names of the screens. A deleted or new screen has its id. */
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
