import { describe, expect, it } from 'vitest';
import { validPlaylist } from '../../src/origin/stored.ts';
import { playlistRow, screenRow } from '../support/playlist-rows.ts';

const screen = screenRow({});
const bad = expect.objectContaining({ code: 'origin_bad_answer' });

describe('validation of a stored playlist', () => {
  it('returns a valid row unchanged, each time', () => {
    const row = Object.freeze(playlistRow(screen, {}));
    for (let time = 0; time < 2; time++) expect(validPlaylist(row)).toBe(row);
    expect(validPlaylist(undefined)).toBeUndefined();
  });

  it.each([
    ['an invalid version', { version: 0 }],
    ['items that are no list', { items: '{}' }],
    ['items that are no JSON', { items: '[{' }],
    ['an unknown state', { state: 'lost' as never }],
  ])('rejects a row with %s, each time', (_, wrong) => {
    const row = Object.freeze({ ...playlistRow(screen, {}), ...wrong });
    for (let time = 0; time < 2; time++) expect(() => validPlaylist(row)).toThrow(bad);
  });

  it('validates a row that is not frozen again', () => {
    const row = { ...playlistRow(screen, {}) };
    expect(validPlaylist(row)).toBe(row);
    expect(() => validPlaylist(Object.assign(row, { items: 'none' }))).toThrow(bad);
  });
});
