import { withCampaignIds, withoutDerivedIds } from '../../../domain/playlists/campaign.ts';
import type { Publication } from '../../../domain/playlists/playlist.ts';
import type { ServiceReader } from '../../connection/client.ts';
import { usage } from '../../input/settings.ts';
import type { Attributes, Site, SitePlaylist, SiteSchedule } from './site-schema.ts';

type Items = Publication['items'];
type Played = Pick<Attributes, 'playlist' | 'schedule'>;

/** Items of a site file, which its schema has checked. */
const checked = (items: readonly object[]) => items as Items;

/** Replaces the items of a playlist and of a schedule. */
function mapItems<A extends Played>(attributes: A, change: (items: Items) => Items): A {
  const { playlist, schedule } = attributes;
  return {
    ...attributes,
    ...(playlist && { playlist: { ...playlist, items: change(checked(playlist.items)) } }),
    ...(schedule && {
      schedule: {
        entries: schedule.entries.map((entry) => ({
          ...entry,
          ...(entry.items && { items: change(checked(entry.items)) }),
        })),
      },
    }),
  };
}

const namesCampaign = ({ playlist, schedule }: Played) =>
  [playlist, ...(schedule?.entries ?? [])].some((one) =>
    checked(one?.items ?? []).some(
      ({ campaign, campaignId }) => campaign !== undefined && campaignId == null,
    ),
  );

/** Adds the ids of named campaigns as the service does, so that the same items compare as equal. */
export async function withDerivedIds(reader: ServiceReader, site: Site): Promise<Site> {
  const isNamed = site.venues.some((venue) => [venue, ...venue.screens].some(namesCampaign));
  if (!isNamed) return site;
  const { tenantId } = await reader.read('getMe');
  if (tenantId === null)
    throw usage('The files name campaigns of a tenant. Name it with --tenant.');
  const change = (items: Items) => withCampaignIds(tenantId, items);
  const venues = site.venues.map(({ screens, ...venue }) => ({
    ...mapItems(venue, change),
    screens: screens.map((screen) => mapItems(screen, change)),
  }));
  return { ...site, venues };
}

/** Leaves out ids that follow from the names of campaigns, so that files fit any tenant. */
export function withoutIds<
  P extends { playlist: SitePlaylist | null; schedule: SiteSchedule | null },
>(tenantId: string, played: P): P {
  return mapItems(played, (items) => withoutDerivedIds(tenantId, items));
}
