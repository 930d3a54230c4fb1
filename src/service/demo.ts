import { type AssetFolder, assetNames, readAsset } from '../assets.ts';
import { configBody } from '../domain/records/config.ts';
import { publication } from '../domain/records/playlist.ts';
import { screenCreation } from '../domain/records/screen.ts';
import { venueCreation } from '../domain/records/venue.ts';
import { system, type TenantCaller } from './context.ts';
import type { Services } from './services.ts';

/** Reads the demo's images and pages, by file name. */
export const demoMedia = (): Map<string, Buffer> =>
  new Map(assetNames('media').map((name) => [name, readAsset('media', name)]));

interface DemoScreen {
  name: string;
  labels: Record<string, string>;
  playlist: string;
}

interface DemoVenue {
  name: string;
  config?: unknown;
  screens: DemoScreen[];
}

function fixture(folder: AssetFolder, name: string, mediaUrl: string): unknown {
  return JSON.parse(readAsset(folder, name).toString().replaceAll('{media}', mediaUrl));
}

async function createScreen(
  { screens, playlists }: Services,
  caller: TenantCaller,
  venueId: string,
  demo: DemoScreen,
  mediaUrl: string,
): Promise<void> {
  const { id } = await screens.create(
    caller,
    screenCreation.parse({ venueId, name: demo.name, labels: demo.labels }),
  );
  await playlists.publish(
    caller,
    id,
    publication.parse(fixture('playlists', `${demo.playlist}.json`, mediaUrl)),
  );
}

async function createVenue(
  services: Services,
  caller: TenantCaller,
  { screens, config, ...venue }: DemoVenue,
  mediaUrl: string,
): Promise<void> {
  const { id } = await services.venues.create(caller, venueCreation.parse(venue));
  if (config !== undefined)
    await services.configs.put(caller, 'venue', id, configBody.parse(config));
  for (const screen of screens) await createScreen(services, caller, id, screen, mediaUrl);
}

/**
 * Creates demo venues, screens and playlists, unless the first tenant already has venues. The
 * playlists expect their media under `<url>/media`.
 */
export async function fillWithDemo(services: Services, url: string): Promise<void> {
  const { items } = await services.deps.store.list('tenants', { limit: 1 });
  const tenant = items[0];
  if (!tenant || (await services.deps.store.read.count('venues', 'tenantId', tenant.id)) > 0)
    return;
  const caller: TenantCaller = {
    actor: system,
    tokenHash: null,
    role: 'platform',
    tenantId: tenant.id,
    venueIds: null,
    expiresAt: null,
    address: null,
    requestId: null,
  };
  const { venues } = fixture('fixtures', 'demo.json', url) as { venues: DemoVenue[] };
  for (const venue of venues) await createVenue(services, caller, venue, `${url}/media`);
}
