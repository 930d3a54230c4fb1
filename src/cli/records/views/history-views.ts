import type { AuditEntry, Notice, TvRequest } from '../../../client/entities.ts';
import type { StoredEventView as StoredEvent } from '../../../domain/events/event.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { shownEpoch } from '../../input/time.ts';
import { type Column, members, type View, wideMembers } from '../../output/view.ts';
import { screenPaths } from '../names.ts';

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

/**
 * Returns the view of events. Fetches the names of the screens. Shows the id of a screen whose name
 * is unknown.
 */
export const eventView = (reader: ServiceReader) => async (): Promise<View<StoredEvent>> => {
  const names = await screenPaths(reader);
  return {
    columns: [
      ...members<StoredEvent>('receivedAt'),
      { name: 'screen', value: ({ screenId }) => names.get(screenId) ?? screenId },
      ofEvent('type'),
      { name: 'detail', value: detail },
      ofEvent('creativeId', { wide: true }),
      ofEvent('campaignId', { wide: true }),
      ofEvent('playlistId', { wide: true }),
      { name: 'timestamp', value: ({ event }) => shownEpoch(event.timestamp), wide: true },
      ...wideMembers<StoredEvent>('deviceId', 'screenId', 'id'),
    ],
    nameOf: ({ id }) => id,
  };
};

/** Formats the members of `data` other than the names: `condition=dark since=…`. */
function noticeDetail({ data }: Notice): string {
  const { venue: _venue, screen: _screen, ...rest } = data;
  return Object.entries(rest)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

export const noticeView: View<Notice> = {
  columns: [
    ...members<Notice>('at', 'type'),
    { name: 'venue', value: ({ data }) => data.venue ?? null },
    { name: 'screen', value: ({ data }) => data.screen ?? null },
    { name: 'detail', value: noticeDetail },
    ...wideMembers<Notice>('venueId', 'screenId', 'deviceId', 'id'),
  ],
  nameOf: ({ id }) => id,
};

/** Formats the error code and the fault rules. */
const reason = ({ code, faults }: TvRequest) =>
  [code ?? '', ...faults.map((rule) => `fault ${rule}`)].filter(Boolean).join(', ');

/** Returns the view of requests of TVs. Fetches the names of the screens. */
export const tvRequestView = (reader: ServiceReader) => async (): Promise<View<TvRequest>> => {
  const names = await screenPaths(reader);
  return {
    columns: [
      ...members<TvRequest>('at'),
      { name: 'screen', value: ({ screenId }) => names.get(screenId) ?? screenId },
      ...members<TvRequest>('operation', 'status'),
      { name: 'reason', value: reason },
      ...wideMembers<TvRequest>('detail', 'requestId', 'deviceId', 'screenId', 'id'),
    ],
    nameOf: ({ id }) => id,
  };
};

/** Formats a kind with a name or id: `token CI`, `device 0190…`, `system`. */
const titled = ({ kind, id, name }: { kind: string; id: string | null; name?: string | null }) =>
  [kind, name ?? id ?? ''].join(' ').trimEnd();

export const auditView: View<AuditEntry> = {
  columns: [
    ...members<AuditEntry>('at'),
    { name: 'actor', value: ({ actor }) => titled(actor) },
    ...members<AuditEntry>('action'),
    { name: 'subject', value: ({ subject }) => titled(subject) },
    {
      name: 'details',
      value: ({ details }) =>
        Object.fromEntries(
          Object.entries(details).map(([name, value]) => [name, String(value ?? '')]),
        ),
    },
    ...wideMembers<AuditEntry>('address'),
    { name: 'actorId', value: ({ actor }) => actor.id, wide: true },
    ...wideMembers<AuditEntry>('requestId', 'id'),
  ],
  nameOf: ({ id }) => id,
};
