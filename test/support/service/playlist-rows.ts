import { randomUUID } from 'node:crypto';
import type { Playlist, Screen } from '../../../src/domain/records/rows.ts';
import { item } from './content.ts';

/** A screen row with random ids. */
export function screenRow(more: Partial<Screen> = {}): Screen {
  const ids = { id: randomUUID(), tenantId: randomUUID(), venueId: randomUUID() };
  return {
    ...ids,
    name: 'Screen',
    labels: {},
    state: 'active',
    deviceId: null,
    createdAt: 0,
    updatedAt: 0,
    ...more,
  };
}

/** A playlist row of a screen. */
export function playlistRow(screen: Screen, more: Partial<Playlist> = {}): Playlist {
  return {
    id: screen.id,
    screenId: screen.id,
    tenantId: screen.tenantId,
    playlistId: randomUUID(),
    version: 1,
    state: 'active',
    items: JSON.stringify([item()]),
    validUntil: null,
    publishedAt: 0,
    origin: 'published',
    noneSince: null,
    ...more,
  };
}
