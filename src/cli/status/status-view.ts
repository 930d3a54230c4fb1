import { type Format, isForPeople } from '../options/format.ts';
import type { View } from '../output/view.ts';
import { relativeTime } from '../records/text.ts';
import { isPrintable } from '../terminal/escape.ts';
import type { ScreenStatus } from './fleet-status.ts';

/** Formats what a screen should play: `7`, `7 expired`. */
function playlistText({ playlist }: ScreenStatus): string | null {
  if (!playlist) return null;
  const { version, status } = playlist;
  return status === 'active' ? `${version}` : `${version} ${status}`;
}

/** The view of the status of screens. People see times by their distance from now. */
export function statusView(format: Format | undefined): View<ScreenStatus> {
  const timeOf = ({ at }: ScreenStatus, time: string | null | undefined) => {
    if (!time) return null;
    return isForPeople(format) ? relativeTime(Date.parse(time), Date.parse(at)) : time;
  };
  const errorText = (one: ScreenStatus) =>
    one.lastError && `${timeOf(one, one.lastError.at)}: ${one.lastError.text}`;
  return {
    columns: [
      { name: 'status', value: ({ status }) => status },
      { name: 'screen', value: ({ name }) => name },
      { name: 'seen', value: (one) => timeOf(one, one.device?.lastSeenAt) },
      { name: 'playlist', value: playlistText },
      { name: 'given', value: ({ device }) => device?.lastPlaylistVersion },
      { name: 'lastError', value: errorText },
      { name: 'model', value: ({ device }) => device?.deviceInfo.model, wide: true },
      { name: 'darkSince', value: ({ darkSince }) => darkSince, wide: true },
      { name: 'deviceId', value: ({ device }) => device?.id, wide: true },
      { name: 'screenId', value: ({ screen }) => screen.id, wide: true },
    ],
    nameOf: ({ name, screen }) => (isPrintable(name) ? name : screen.id),
  };
}
