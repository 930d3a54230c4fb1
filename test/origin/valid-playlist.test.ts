import { describe, expect, it } from 'vitest';
import { validItems, validPlaylist } from '../../src/origin/rendered-playlists.ts';
import { playlistRow, screenRow } from '../support/service/playlist-rows.ts';

const screen = screenRow({});
const bad = expect.objectContaining({ code: 'origin_bad_answer' });

describe('validation of a stored playlist', () => {
  it('returns a valid row unchanged', () => {
    const row = playlistRow(screen, {});
    expect(validPlaylist(row)).toBe(row);
  });

  it.each([
    ['an invalid version', { version: 0 }],
    ['no content', { contentId: undefined as never }],
    ['an unknown state', { state: 'lost' as never }],
  ])('rejects a row with %s', (_, wrong) => {
    expect(() => validPlaylist({ ...playlistRow(screen, {}), ...wrong })).toThrow(bad);
  });

  it.each([
    ['that are no list', { items: '{}' }],
    ['that are truncated', { items: '[{' }],
    ['that are lost', undefined],
  ])('rejects items %s', (_, content) => {
    expect(() => validItems(content)).toThrow(bad);
  });
});
