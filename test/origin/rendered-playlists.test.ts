import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../src/domain/clock.ts';
import type { Playlist } from '../../src/domain/records/rows.ts';
import type { RenderedPlaylist } from '../../src/origin/origin.ts';
import { makeRenderedPlaylists, type RenderPlaylist } from '../../src/origin/rendered-playlists.ts';
import { item } from '../support/service/content.ts';
import { playlistRow, screenRow } from '../support/service/playlist-rows.ts';

const screen = screenRow({});
const playlistId = randomUUID();
const row = (version: number, title = 'Grüße ☀', of = screen) =>
  playlistRow(of, {
    playlistId,
    version,
    validUntil: 1_760_000_000_000,
    items: JSON.stringify([item({ title })]),
  });

/** Renders a row so often that it is in the cache, unless it is evicted. */
function cached(render: RenderPlaylist, one: Playlist): RenderedPlaylist {
  for (let n = 0; n < 300; n++) render(one, 0);
  return render(one, 0);
}

describe('rendered playlists', () => {
  it('contain the row and its expiry, and are cached after some reads', () => {
    const render = makeRenderedPlaylists();
    const one = row(1);
    const { bytes, etag } = render(one, 0);
    expect(etag).toBe(`"${one.playlistId}.1.0.1760000000"`);
    expect(JSON.parse(bytes.toString())).toEqual({
      id: one.playlistId,
      tenantId: one.tenantId,
      screenId: one.screenId,
      status: 'active',
      version: 1,
      validUntil: 1760000000,
      items: JSON.parse(one.items),
    });
    const rendered = cached(render, one);
    expect(render({ ...one }, 0)).toBe(rendered);
  });

  it('are rendered again for another expiry, another version, and another publication', () => {
    const render = makeRenderedPlaylists();
    const one = row(1);
    const before = cached(render, one).bytes;
    const longer = { ...one, validUntil: 1_770_000_000_000 };
    expect(JSON.parse(render(longer, 0).bytes.toString()).validUntil).toBe(1_770_000_000);
    expect(JSON.parse(before.toString()).validUntil).toBe(1_760_000_000);
    expect(JSON.parse(render(row(2), 0).bytes.toString()).version).toBe(2);
    const again = { ...row(2, 'Other'), publishedAt: row(2).publishedAt + 1 };
    expect(JSON.parse(render(again, 0).bytes.toString()).items[0].title).toBe('Other');
  });

  it('are extended in time, without an expiry of their own', () => {
    const render = makeRenderedPlaylists();
    const endless = { ...row(1), validUntil: null };
    const first = cached(render, endless);
    expect(render(endless, dayMs)).toBe(first);
    expect(render(endless, 200 * dayMs).etag).not.toBe(first.etag);
  });

  it('are not made of a damaged row', () => {
    const render = makeRenderedPlaylists();
    expect(() => render({ ...row(1), items: '[{' }, 0)).toThrow(
      expect.objectContaining({ code: 'origin_bad_answer' }),
    );
  });

  it('are cached for the latest screens, within the limit', () => {
    const rows = [row(1), row(1, 'Grüße ☀', screenRow()), row(1, 'Grüße ☀', screenRow())] as const;
    const render = makeRenderedPlaylists(2 * makeRenderedPlaylists()(rows[0], 0).bytes.length);
    const made = rows.map((each) => cached(render, each).bytes);
    expect(render(rows[2], 0).bytes).toBe(made[2]);
    expect(render(rows[1], 0).bytes).toBe(made[1]);
    expect(render(rows[0], 0).bytes).not.toBe(made[0]);
    expect(makeRenderedPlaylists(1)(rows[0], 0).bytes).toEqual(made[0]);
  });
});
