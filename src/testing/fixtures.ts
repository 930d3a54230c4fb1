import type {
  ActivePlaylist,
  DeviceInfoInput,
  EventInput,
  Publication,
} from '../client/entities.ts';

/**
 * Information that a TV sends about itself.
 */
export const sampleDeviceInfo: DeviceInfoInput = {
  manufacturer: 'Samsung',
  model: 'QM55C',
  osVersion: 'Tizen 7.0',
  appVersion: '2.4.1',
};

const campaignId = 'ca000000-0000-4000-8000-000000000001';

/**
 * Two items of one campaign, and one item without a campaign. TVs report impressions only for the
 * first two.
 */
export const samplePlaylist: Publication = {
  items: [
    {
      creativeId: 'c0000000-0000-4000-8000-000000000001',
      creativeUrl: 'https://media.example.com/spring.mp4',
      creativeType: 'video',
      duration: 15,
      campaignId,
    },
    {
      creativeId: 'c0000000-0000-4000-8000-000000000002',
      creativeUrl: 'https://media.example.com/summer.jpg',
      creativeType: 'image',
      duration: 10,
      campaignId,
    },
    {
      creativeId: 'c0000000-0000-4000-8000-000000000003',
      creativeUrl: 'https://media.example.com/menu.html',
      creativeType: 'html',
      duration: 20,
    },
  ],
};

/**
 * Returns the impressions of one round of a playlist. Each has the timestamp `timeMs`, in seconds.
 */
export function sampleImpressions(playlist: ActivePlaylist, timeMs: number): EventInput[] {
  const played = playlist.items.filter((item) => typeof item.campaignId === 'string');
  return played.map(({ creativeId, campaignId, duration }) => ({
    type: 'impression',
    timestamp: Math.floor(timeMs / 1000),
    playlistId: playlist.id,
    campaignId: String(campaignId),
    creativeId,
    duration,
  }));
}
