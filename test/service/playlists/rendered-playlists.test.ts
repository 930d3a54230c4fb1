import { describe, expect, it } from 'vitest';
import { makeRenderedPlaylists } from '../../../src/service/playlists/rendered-playlists.ts';
import { item } from '../../support/content.ts';
import { playlistRow, screenRow } from '../../support/playlist-rows.ts';

const screen = screenRow({});
const row = (version: number, title = 'Grüße ☀') =>
  Object.freeze(playlistRow(screen, { version, items: JSON.stringify([item({ title })]) }));

describe('rendered playlists', () => {
  it('contain the row and its expiry, and are rendered once', () => {
    const bytesOf = makeRenderedPlaylists();
    const one = row(1);
    const bytes = bytesOf(one, 1760000000);
    expect(JSON.parse(bytes.toString())).toEqual({
      id: one.playlistId,
      tenantId: one.tenantId,
      screenId: one.screenId,
      status: 'active',
      version: 1,
      validUntil: 1760000000,
      items: JSON.parse(one.items),
    });
    expect(bytesOf(one, 1760000000)).toBe(bytes);
  });

  it('are strings for pure ASCII, where each character is one byte', () => {
    const bytesOf = makeRenderedPlaylists();
    const [plain, other] = [bytesOf(row(1, 'Spring'), 1), bytesOf(row(1, 'Grüße'), 1)];
    expect(plain).toBeTypeOf('string');
    expect(JSON.parse(plain as string).items[0].title).toBe('Spring');
    expect(other).toBeInstanceOf(Uint8Array);
    expect(JSON.parse(other.toString()).items[0].title).toBe('Grüße');
  });

  it('are rendered again for another expiry, another version, and a row that is not frozen', () => {
    const bytesOf = makeRenderedPlaylists();
    const one = row(1);
    const before = bytesOf(one, 1);
    expect(JSON.parse(bytesOf(one, 2).toString()).validUntil).toBe(2);
    expect(bytesOf(one, 1)).not.toBe(before);
    expect(JSON.parse(bytesOf(row(2), 1).toString()).version).toBe(2);
    const loose = { ...row(3) };
    expect(bytesOf(loose, 1)).not.toBe(bytesOf(loose, 1));
  });

  it('are cached for the latest rows, within the limit', () => {
    const one = row(1);
    const bytesOf = makeRenderedPlaylists(2 * makeRenderedPlaylists()(one, 1).length);
    const rows = [one, row(2), row(3)] as const;
    const made = rows.map((each) => bytesOf(each, 1));
    expect(bytesOf(rows[2], 1)).toBe(made[2]);
    expect(bytesOf(rows[1], 1)).toBe(made[1]);
    expect(bytesOf(rows[0], 1)).not.toBe(made[0]);
    expect(makeRenderedPlaylists(1)(one, 1)).toEqual(made[0]);
  });
});
