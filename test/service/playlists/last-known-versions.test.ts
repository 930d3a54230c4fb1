import { describe, expect, it } from 'vitest';
import {
  type PlaylistWithItems,
  playlistContent,
} from '../../../src/domain/playlists/playlist-content.ts';
import { makeLastKnownVersions } from '../../../src/service/playlists/on-demand-versions.ts';
import { playlistRow, screenRow } from '../../support/service/playlist-rows.ts';

const contentOf = ({ items, validUntil }: PlaylistWithItems) =>
  playlistContent(JSON.parse(items), validUntil);
const nowMs = 1_760_000_000_000;

describe('last known versions', () => {
  it('are found by their content alone, and give the same row', () => {
    const versions = makeLastKnownVersions();
    const screen = screenRow();
    const row = playlistRow(screen, { version: 4, publishedAt: 17, validUntil: nowMs + 1000 });
    versions.remember(screen.id, row, nowMs);
    const { items, ...stored } = row;
    const content = contentOf(row);
    expect(versions.versionOf(screen, content)).toEqual({ ...stored, origin: 'on-demand' });
    expect(versions.versionOf(screen, { ...content, validUntil: null })).toBeUndefined();
    const { validUntil } = content;
    expect(versions.versionOf(screen, playlistContent([], validUntil))).toBeUndefined();
    expect(versions.versionOf(screenRow(), content)).toBeUndefined();
  });

  it.each([
    ['was withdrawn', { state: 'withdrawn' as const }],
    ['has ended', { validUntil: nowMs }],
  ])('are forgotten when the playlist %s, or is deleted', (_, end) => {
    const versions = makeLastKnownVersions();
    const screen = screenRow();
    const row = playlistRow(screen);
    for (const last of [{ ...row, ...end }, undefined]) {
      versions.remember(screen.id, row, nowMs);
      expect(versions.versionOf(screen, contentOf(row))).toBeDefined();
      versions.remember(screen.id, last, nowMs);
      expect(versions.versionOf(screen, contentOf(row))).toBeUndefined();
    }
  });

  it('are limited in number: the oldest entries are evicted', () => {
    const versions = makeLastKnownVersions(3);
    const screen = screenRow();
    const row = playlistRow(screen);
    for (const id of ['a', 'b', 'c', 'a', 'd']) versions.remember(id, row, nowMs);
    const isKnown = (id: string) =>
      versions.versionOf({ ...screen, id }, contentOf(row)) !== undefined;
    expect(['a', 'b', 'c', 'd'].map(isKnown)).toEqual([false, true, true, true]);
  });
});
