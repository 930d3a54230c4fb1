import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../src/domain/clock.ts';
import { makeRenderedPlaylists } from '../../src/origin/rendered-playlists.ts';
import { item } from '../support/content.ts';
import { playlistRow, screenRow } from '../support/playlist-rows.ts';

const screen = screenRow({});
const playlistId = randomUUID();
const row = (version: number, title = 'Grüße ☀', of = screen) =>
  playlistRow(of, {
    playlistId,
    version,
    validUntil: 1_760_000_000_000,
    items: JSON.stringify([item({ title })]),
  });

describe('rendered playlists', () => {
  it('contain the row and its expiry, and are cached from the second read on', () => {
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
    const second = render(one, 0);
    expect(second.bytes).not.toBe(bytes);
    expect(render({ ...one }, 0)).toBe(second);
  });

  it('are rendered again for another expiry, another version, and another publication', () => {
    const render = makeRenderedPlaylists();
    const one = row(1);
    const before = render(one, 0).bytes;
    const longer = { ...one, validUntil: 1_770_000_000_000 };
    expect(JSON.parse(render(longer, 0).bytes.toString()).validUntil).toBe(1_770_000_000);
    expect(render(one, 0).bytes).not.toBe(before);
    expect(JSON.parse(render(row(2), 0).bytes.toString()).version).toBe(2);
    const again = { ...row(2, 'Other'), publishedAt: row(2).publishedAt + 1 };
    expect(JSON.parse(render(again, 0).bytes.toString()).items[0].title).toBe('Other');
  });

  it('are extended in time, without an expiry of their own', () => {
    const render = makeRenderedPlaylists();
    const endless = { ...row(1), validUntil: null };
    render(endless, 0);
    const first = render(endless, 0);
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
    for (const each of rows) render(each, 0);
    const made = rows.map((each) => render(each, 0).bytes);
    expect(render(rows[2], 0).bytes).toBe(made[2]);
    expect(render(rows[1], 0).bytes).toBe(made[1]);
    expect(render(rows[0], 0).bytes).not.toBe(made[0]);
    expect(makeRenderedPlaylists(1)(rows[0], 0).bytes).toEqual(made[0]);
  });
});
