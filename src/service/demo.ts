import { type AssetFolder, assetNames, readAsset } from '../assets.ts';
import { configBody } from '../domain/records/config.ts';
import { publication } from '../domain/records/playlist.ts';
import { screenCreation } from '../domain/records/screen.ts';
import { venueCreation } from '../domain/records/venue.ts';
import { system, type TenantPrincipal } from './context.ts';
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
  principal: TenantPrincipal,
  venueId: string,
  demo: DemoScreen,
  mediaUrl: string,
): Promise<void> {
  const { id } = await screens.create(
    principal,
    screenCreation.parse({ venueId, name: demo.name, labels: demo.labels }),
  );
  await playlists.publish(
    principal,
    id,
    publication.parse(fixture('playlists', `${demo.playlist}.json`, mediaUrl)),
  );
}

async function createVenue(
  services: Services,
  principal: TenantPrincipal,
  { screens, config, ...venue }: DemoVenue,
  mediaUrl: string,
): Promise<void> {
  const { id } = await services.venues.create(principal, venueCreation.parse(venue));
  if (config !== undefined)
    await services.configs.put(principal, 'venue', id, configBody.parse(config));
  for (const screen of screens) await createScreen(services, principal, id, screen, mediaUrl);
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
  const principal: TenantPrincipal = {
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
  for (const venue of venues) await createVenue(services, principal, venue, `${url}/media`);
}
