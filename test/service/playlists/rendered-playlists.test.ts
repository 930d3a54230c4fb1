import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeRenderedPlaylists } from '../../../src/service/playlists/playback.ts';
import { item } from '../../support/content.ts';
import { playlistRow, screenRow } from '../../support/playlist-rows.ts';

const screen = screenRow({});
const playlistId = randomUUID();
const row = (version: number, title = 'Grüße ☀', of = screen) =>
  playlistRow(of, { playlistId, version, items: JSON.stringify([item({ title })]) });

describe('rendered playlists', () => {
  it('contain the row and its expiry, and are rendered once', () => {
    const render = makeRenderedPlaylists();
    const one = row(1);
    const { bytes, etag } = render(one, 1760000000);
    expect(etag).toBe(`"${one.playlistId}.1.1760000000"`);
    expect(JSON.parse(bytes.toString())).toEqual({
      id: one.playlistId,
      tenantId: one.tenantId,
      screenId: one.screenId,
      status: 'active',
      version: 1,
      validUntil: 1760000000,
      items: JSON.parse(one.items),
    });
    expect(render({ ...one }, 1760000000).bytes).toBe(bytes);
  });

  it('are rendered again for another expiry, another version, and another publication', () => {
    const render = makeRenderedPlaylists();
    const one = row(1);
    const before = render(one, 1).bytes;
    expect(JSON.parse(render(one, 2).bytes.toString()).validUntil).toBe(2);
    expect(render(one, 1).bytes).not.toBe(before);
    expect(JSON.parse(render(row(2), 1).bytes.toString()).version).toBe(2);
    const again = { ...row(2, 'Other'), publishedAt: row(2).publishedAt + 1 };
    expect(JSON.parse(render(again, 1).bytes.toString()).items[0].title).toBe('Other');
  });

  it('are cached for the latest screens, within the limit', () => {
    const rows = [row(1), row(1, 'Grüße ☀', screenRow()), row(1, 'Grüße ☀', screenRow())] as const;
    const render = makeRenderedPlaylists(2 * makeRenderedPlaylists()(rows[0], 1).bytes.length);
    const made = rows.map((each) => render(each, 1).bytes);
    expect(render(rows[2], 1).bytes).toBe(made[2]);
    expect(render(rows[1], 1).bytes).toBe(made[1]);
    expect(render(rows[0], 1).bytes).not.toBe(made[0]);
    expect(makeRenderedPlaylists(1)(rows[0], 1).bytes).toEqual(made[0]);
  });
});
