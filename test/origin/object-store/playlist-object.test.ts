import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/domain/json/parse-json.ts';
import { publication } from '../../../src/domain/playlists/playlist.ts';
import type { PlaylistWithItems } from '../../../src/domain/playlists/playlist-content.ts';
import {
  playlistObjectBytes,
  readPlaylistObject,
} from '../../../src/origin/object-store/playlist-copies.ts';
import { playlistRow, screenRow } from '../../support/service/playlist-rows.ts';

const screen = screenRow();
const item = fc.record(
  {
    creativeId: fc.uuid().map((id) => id.toUpperCase()),
    creativeUrl: fc.webUrl({ withQueryParameters: true }),
    creativeType: fc.constantFrom('image', 'video', 'html'),
    duration: fc.double({ min: 0.001, max: 86_400, noNaN: true }),
    campaignId: fc.uuid(),
    more: fc.jsonValue(),
  },
  { requiredKeys: ['creativeId', 'creativeUrl', 'creativeType', 'duration'] },
);
const row: fc.Arbitrary<PlaylistWithItems> = fc
  .record({
    items: fc.array(item, { minLength: 1, maxLength: 5 }),
    version: fc.integer({ min: 1, max: 1_000_000 }),
    validUntil: fc.option(fc.integer({ min: 0, max: 4e12 })),
    publishedAt: fc.integer({ min: 0, max: 4e12 }),
    origin: fc.constantFrom('published' as const, 'on-demand' as const),
  })
  // As parsed from a request, which drops some member names.
  .map((one) => ({ ...one, items: parseJson(Buffer.from(JSON.stringify(one.items))).json }))
  .filter(({ items }) => publication.safeParse({ items }).success)
  .map(({ items, ...rest }) => playlistRow(screen, { ...rest, items: JSON.stringify(items) }));

describe('a playlist as an object', () => {
  it('is read back as it was, with byte-identical items', () => {
    fc.assert(
      fc.property(row, (one) => {
        expect(readPlaylistObject(playlistObjectBytes(one), screen)).toEqual({
          kind: 'playlist',
          playlist: one,
        });
      }),
      { numRuns: 300 },
    );
  });

  it('is readable JSON that names its content', () => {
    const one = playlistRow(screen, { version: 3, validUntil: 1_790_000_000_000 });
    expect(JSON.parse(Buffer.from(playlistObjectBytes(one)).toString())).toEqual({
      format: 1,
      tenantId: screen.tenantId,
      screenId: screen.id,
      playlistId: one.playlistId,
      version: 3,
      state: 'active',
      validUntil: 1_790_000_000_000,
      publishedAt: 0,
      origin: 'published',
      items: JSON.parse(one.items),
    });
  });

  it('is a tombstone without items once it was withdrawn', () => {
    const one = playlistRow(screen, { version: 3, state: 'withdrawn' });
    const text = Buffer.from(playlistObjectBytes(one)).toString();
    expect(JSON.parse(text)).toEqual({
      format: 1,
      tenantId: screen.tenantId,
      screenId: screen.id,
      playlistId: one.playlistId,
      version: 3,
      state: 'withdrawn',
    });
    expect(readPlaylistObject(Buffer.from(text), screen)).toEqual({
      kind: 'withdrawn',
      version: 3,
    });
  });

  it('is parsed as written, or rejected, for any bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          expect(() => readPlaylistObject(bytes, screen)).toThrow();
        },
      ),
    );
  });
});
