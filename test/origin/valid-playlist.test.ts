import { describe, expect, it } from 'vitest';
import { validPlaylist } from '../../src/origin/rendered-playlists.ts';
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
    ['items that are no list', { items: '{}' }],
    ['items that are no JSON', { items: '[{' }],
    ['an unknown state', { state: 'lost' as never }],
  ])('rejects a row with %s', (_, wrong) => {
    expect(() => validPlaylist({ ...playlistRow(screen, {}), ...wrong })).toThrow(bad);
  });
});
