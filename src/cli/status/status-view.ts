import type { View } from '../output/view.ts';
import { relativeTime } from '../records/text.ts';
import { isPrintable } from '../terminal/escape.ts';
import type { ScreenStatus } from './fleet-status.ts';

/** Formats the newest playlist version of a screen: `7`, `7 expired`. */
function playlistText({ playlist }: ScreenStatus): string | null {
  if (!playlist) return null;
  const { version, status } = playlist;
  return status === 'active' ? `${version}` : `${version} ${status}`;
}

/** Formats a time by its distance from the time of the service. */
const relative = ({ at }: ScreenStatus, time: string | null | undefined) =>
  time ? relativeTime(Date.parse(time), Date.parse(at)) : null;

/** The view of the status of screens. */
export const statusView: View<ScreenStatus> = {
  columns: [
    { name: 'status', value: ({ status }) => status },
    { name: 'screen', value: ({ name }) => name },
    {
      name: 'seen',
      value: ({ device }) => device?.lastSeenAt,
      shown: (one) => relative(one, one.device?.lastSeenAt),
    },
    { name: 'playlist', value: playlistText },
    { name: 'given', value: ({ device }) => device?.lastPlaylistVersion },
    {
      name: 'lastError',
      value: ({ lastError }) => lastError?.text,
      shown: (one) => one.lastError && `${one.lastError.text}, ${relative(one, one.lastError.at)}`,
    },
    { name: 'lastErrorAt', value: ({ lastError }) => lastError?.at, wide: true },
    { name: 'darkSince', value: ({ darkSince }) => darkSince, wide: true },
    { name: 'model', value: ({ device }) => device?.deviceInfo.model, wide: true },
    { name: 'deviceId', value: ({ device }) => device?.id, wide: true },
    { name: 'screenId', value: ({ screen }) => screen.id, wide: true },
  ],
  nameOf: ({ name, screen }) => (isPrintable(name) ? name : screen.id),
};
