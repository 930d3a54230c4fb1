import fc from 'fast-check';
import { expect } from 'vitest';
import type { ActivePlaylist } from '../../../src/client/entities.ts';
import { eventBatch, isEventBatch } from '../../../src/domain/events/event.ts';
import { publication } from '../../../src/domain/playlists/playlist.ts';
import { publishedContent } from '../../../src/domain/playlists/playlist-content.ts';
import { playbackError, proofOfPlay } from '../../../src/player/batch.ts';

const tenantId = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';

/** What a manager may send as an item, and much that it may not. */
const anyItem = fc.record(
  {
    creativeId: fc.oneof(
      { weight: 6, arbitrary: fc.uuid() },
      { weight: 2, arbitrary: fc.uuid().map((id) => id.toUpperCase()) },
      fc.string(),
    ),
    creativeUrl: fc.webUrl(),
    creativeType: fc.constantFrom('image', 'video', 'html'),
    duration: fc.oneof(
      { weight: 6, arbitrary: fc.double({ min: 0.1, max: 86_400, noNaN: true }) },
      { weight: 2, arbitrary: fc.integer({ min: 1, max: 86_400 }) },
      fc.integer(),
    ),
    name: fc.string({ unit: 'binary', maxLength: 200 }),
    campaign: fc.oneof(fc.string({ unit: 'binary', maxLength: 81 }), fc.jsonValue()),
    campaignId: fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
      fc.string(),
      fc.jsonValue(),
      fc.constant(null),
    ),
    entryId: fc.jsonValue(),
    seq: fc.jsonValue(),
    timestamp: fc.jsonValue(),
    type: fc.jsonValue(),
    [`x${tenantId}`]: fc.jsonValue(),
  },
  { requiredKeys: ['creativeId', 'creativeUrl', 'creativeType', 'duration'] },
);

/**
 * Publishes random items, lets our player report those that the service accepts, and checks that
 * the service accepts each event. Returns how many items were accepted, and how many of them had a
 * campaign.
 */
export function checkEventsOfItems(run: { numRuns: number; seed?: number }) {
  let accepted = 0;
  let named = 0;
  fc.assert(
    fc.property(
      anyItem,
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.integer({ min: -1e12, max: 1e14 }),
      fc.option(fc.string({ unit: 'binary', maxLength: 200 })),
      (given, seconds, atMs, entryId) => {
        const { success, data } = publication.safeParse({ items: [given] });
        if (!success) return;
        accepted++;
        const [stored] = JSON.parse(publishedContent(tenantId, data.items, null).items);
        const playlist = { id: tenantId, entryId } as unknown as ActivePlaylist;
        const events = [
          proofOfPlay(playlist, stored, atMs, seconds),
          playbackError(stored, atMs, 'stalled'),
        ];
        const sent = JSON.parse(JSON.stringify(events));
        expect(eventBatch.safeParse(sent).error?.issues).toBeUndefined();
        expect(isEventBatch(sent)).toBe(true);
        const hasCampaign = stored.campaignId != null;
        if (hasCampaign) named++;
        expect(sent[0].type).toBe(hasCampaign ? 'impression' : 'play');
      },
    ),
    run,
  );
  return { accepted, named };
}
