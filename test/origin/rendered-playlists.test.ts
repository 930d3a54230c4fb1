import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../src/domain/clock.ts';
import { RenderedItems, renderPlaylist } from '../../src/origin/rendered-playlists.ts';
import { item } from '../support/service/content.ts';
import { playlistRow, screenRow } from '../support/service/playlist-rows.ts';

const screen = screenRow({});
const playlistId = randomUUID();
const creativeId = randomUUID();
const row = (version: number, title = 'Grüße ☀', of = screen) =>
  playlistRow(of, {
    playlistId,
    version,
    validUntil: 1_760_000_000_000,
    items: JSON.stringify([item({ creativeId, title })]),
  });
type Row = ReturnType<typeof row>;

/** Renders a row without a cache. */
const render = (one: Row, nowMs: number) =>
  renderPlaylist(one, Buffer.from(`${one.items}}`), nowMs);
const bodyOf = (one: Row, nowMs = 0) => JSON.parse(render(one, nowMs).body.joined().toString());

describe('rendered playlists', () => {
  it('contain the row and its expiry', () => {
    const one = row(1);
    expect(render(one, 0).etag).toBe(`"${one.playlistId}.1.0.1760000000"`);
    expect(bodyOf(one)).toEqual({
      id: one.playlistId,
      tenantId: one.tenantId,
      screenId: one.screenId,
      status: 'active',
      version: 1,
      validUntil: 1760000000,
      entryId: null,
      items: JSON.parse(one.items),
    });
  });

  it('have another body and ETag for another expiry, version or publication', () => {
    const one = row(1);
    const longer = { ...one, validUntil: 1_770_000_000_000 };
    expect(bodyOf(longer).validUntil).toBe(1_770_000_000);
    expect(bodyOf(row(2)).version).toBe(2);
    const others = [longer, row(2), { ...one, publishedAt: one.publishedAt + 1 }];
    expect(new Set([one, ...others].map((each) => render(each, 0).etag)).size).toBe(4);
  });

  it('are extended in time, without an expiry of their own', () => {
    const endless = { ...row(1), validUntil: null };
    const { etag } = render(endless, 0);
    expect(render(endless, dayMs).etag).toBe(etag);
    expect(render(endless, 200 * dayMs).etag).not.toBe(etag);
  });
});

describe('rendered items', () => {
  const stored = (...rows: Row[]) => {
    const reads: string[] = [];
    const read = async (id: string) => {
      reads.push(id);
      const found = rows.find(({ contentId }) => contentId === id);
      return found && { id, tenantId: found.tenantId, items: found.items };
    };
    return { read, reads };
  };
  /** Renders so often that the items are in the cache, unless they are evicted. */
  const cached = async (items: RenderedItems, one: Row) => {
    for (let n = 0; n < 300; n++) await items.of(one);
    return items.of(one);
  };

  it('are shared by all screens and versions, and read once', async () => {
    const { read, reads } = stored(row(1));
    const items = new RenderedItems(read);
    const other = row(7, 'Grüße ☀', { ...screenRow(), tenantId: screen.tenantId });
    const bytes = await cached(items, row(1));
    expect(bytes.toString()).toBe(`${row(1).items}}`);
    const before = reads.length;
    expect(await items.of(other)).toBe(bytes);
    expect(await items.of(row(1), row(1).items)).toBe(bytes);
    expect(reads.length).toBe(before);
  });

  it('are not shared with another tenant', () => {
    expect(row(1, 'Grüße ☀', screenRow()).contentId).not.toBe(row(1).contentId);
  });

  it('need no store if they are given', async () => {
    const { read, reads } = stored();
    const bytes = await new RenderedItems(read).of(row(1), row(1).items);
    expect(bytes.toString()).toBe(`${row(1).items}}`);
    expect(reads).toEqual([]);
  });

  it('fail if they are lost', async () => {
    const { read } = stored();
    await expect(new RenderedItems(read).of(row(1))).rejects.toMatchObject({
      code: 'origin_bad_answer',
    });
  });

  it('are evicted beyond the limit', async () => {
    const rows = [row(1, 'one'), row(1, 'two'), row(1, 'sec')] as const;
    const { read } = stored(...rows);
    const items = new RenderedItems(read, 2 * (rows[0].items.length + 1));
    const made: Buffer[] = [];
    for (const each of rows) made.push(await cached(items, each));
    expect(await items.of(rows[2])).toBe(made[2]);
    expect(await items.of(rows[1])).toBe(made[1]);
    expect(await items.of(rows[0])).not.toBe(made[0]);
  });
});
