import { png, startMediaServer } from '../../support/network/media-server.ts';
import { databaseProxy } from '../../support/postgres/database-proxy.ts';
import { item } from '../../support/service/content.ts';
import { startTvOnScreen, type TvOnScreen } from '../../support/tv/tv-on-screen.ts';

/** A web player with two pictures, behind a proxy that can go away. */
export async function startProxiedTv(
  playSeconds: number,
  options: { profile?: string; isEmpty?: boolean } = {},
) {
  const { isEmpty = false, ...browser } = options;
  const media = await startMediaServer({
    'red.png': { type: 'image/png', bytes: png([255, 0, 0]) },
    'lime.png': { type: 'image/png', bytes: png([0, 255, 0]) },
  });
  const items = ['red.png', 'lime.png'].map((name) =>
    item({
      creativeUrl: `${media.url}/${name}`,
      creativeType: 'image',
      duration: playSeconds,
      campaignId: crypto.randomUUID(),
    }),
  );
  let proxy: Awaited<ReturnType<typeof databaseProxy>> | undefined;
  const tv = await startTvOnScreen({
    keepsProfile: true,
    items: isEmpty ? [] : items,
    ...browser,
    url: async (serviceUrl) => {
      proxy = await databaseProxy(`${serviceUrl}/`);
      return proxy.url.replace(/\/$/, '');
    },
  });
  return { tv, media, items, proxy: proxy! };
}

interface StoredEvent {
  type: string;
  seq: number;
  timestamp: number;
}

/** Returns the device of the TV, and all its stored events, oldest first. */
export async function storedEvents({ service, screenId }: TvOnScreen) {
  const { body } = await service.manage('GET', `/v1/devices?screenId=${screenId}`);
  const [device] = body.items;
  const events: StoredEvent[] = [];
  for (let cursor = ''; ; ) {
    const query = `deviceId=${device.id}&order=asc&limit=200${cursor && `&cursor=${cursor}`}`;
    const page = (await service.manage('GET', `/v1/events?${query}`)).body;
    events.push(...page.items.map(({ event }: { event: StoredEvent }) => event));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  const { lastSeq, missingEvents, conflictingEvents } = device;
  return { lastSeq, missingEvents, conflictingEvents, events };
}
