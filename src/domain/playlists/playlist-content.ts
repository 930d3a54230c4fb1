import { hash } from 'node:crypto';
import { canonicalJson } from '../json/canonical-json.ts';
import { mediaIdOf } from '../media/media.ts';
import type { Playlist } from '../records/rows.ts';
import { campaignsOf, creativesOf, type Named, withCampaignIds } from './campaign.ts';
import type { Publication } from './playlist.ts';

/** What a version shows, and until when. Different content makes the next version. */
export interface PlaylistContent {
  /** The items as JSON text. */
  items: string;
  /** SHA-256 of the items. The order of members in an item does not matter. */
  digest: string;
  /** Ids of the files of the service that the items name, once each. */
  mediaIds: readonly string[];
  /** The campaigns that the items name. */
  campaigns: readonly Named[];
  /** The creatives that the items name. */
  creatives: readonly Named[];
  /** Expiry that the publisher gave, if any. */
  validUntil: number | null;
}

export function playlistContent(
  items: readonly unknown[],
  validUntil: number | null,
): PlaylistContent {
  return {
    items: JSON.stringify(items),
    digest: hash('sha256', canonicalJson(items), 'base64url'),
    mediaIds: mediaIdsOf(items),
    campaigns: campaignsOf(items),
    creatives: creativesOf(items),
    validUntil,
  };
}

/** The content of a publication, schedule entry or takeover. */
export function publishedContent(
  tenantId: string,
  items: Publication['items'],
  validUntil: number | null,
): PlaylistContent {
  return playlistContent(withCampaignIds(tenantId, items), validUntil);
}

/** Returns the ids of the files of the service that items name, once each. */
export function mediaIdsOf(items: readonly unknown[]): string[] {
  const ids = new Set<string>();
  for (const item of items) {
    const id = mediaIdOf((item as { creativeUrl?: unknown } | null)?.creativeUrl);
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

/** Returns the id of the row with the items. Tenants share no rows. */
export function contentId(tenantId: string, { digest }: Pick<PlaylistContent, 'digest'>): string {
  return hash('sha256', `${tenantId} ${digest}`, 'base64url').slice(0, 27);
}

/** A version with its items as JSON text. */
export type PlaylistWithItems = Playlist & { items: string };
