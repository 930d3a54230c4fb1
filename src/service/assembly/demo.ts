import { hash } from 'node:crypto';
import { publication } from '../../domain/playlists/playlist.ts';
import { configBody } from '../../domain/records/config.ts';
import { screenCreation } from '../../domain/records/screen.ts';
import { venueCreation } from '../../domain/records/venue.ts';
import { assetNames, readAsset } from '../../package/assets.ts';
import { system, type TenantPrincipal } from '../context.ts';
import type { Services } from './services.ts';

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

/** Paths of the demo's files on the service, by name. */
type MediaPaths = ReadonlyMap<string, string>;

/** Uploads the images and pages of the demo. */
async function uploadMedia(
  { mediaUploads }: Services,
  principal: TenantPrincipal,
): Promise<MediaPaths> {
  const paths = new Map<string, string>();
  for (const name of assetNames('media')) {
    const file = readAsset('media', name);
    const uploaded = await mediaUploads.put(
      principal,
      hash('sha256', file),
      { name },
      {
        length: file.length,
        async *read() {
          yield file;
        },
      },
    );
    if ('record' in uploaded) paths.set(name, uploaded.record.url);
  }
  return paths;
}

function readPlaylist(name: string, paths: MediaPaths): unknown {
  const text = readAsset('playlists', `${name}.json`).toString();
  return JSON.parse(text.replaceAll(/\{media\}\/([^"]+)/g, (_, file) => paths.get(file) ?? ''));
}

async function createScreen(
  { screens, playlists }: Services,
  principal: TenantPrincipal,
  venueId: string,
  demo: DemoScreen,
  paths: MediaPaths,
): Promise<void> {
  const { id } = await screens.create(
    principal,
    screenCreation.parse({ venueId, name: demo.name, labels: demo.labels }),
  );
  await playlists.publish(principal, id, publication.parse(readPlaylist(demo.playlist, paths)));
}

async function createVenue(
  services: Services,
  principal: TenantPrincipal,
  { screens, config, ...venue }: DemoVenue,
  paths: MediaPaths,
): Promise<void> {
  const { id } = await services.venues.create(principal, venueCreation.parse(venue));
  if (config !== undefined)
    await services.configs.put(principal, 'venue', id, configBody.parse(config));
  for (const screen of screens) await createScreen(services, principal, id, screen, paths);
}

/** Creates demo venues, screens, media and playlists, unless the first tenant has venues. */
export async function fillWithDemo(services: Services): Promise<void> {
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
  const { venues } = JSON.parse(readAsset('fixtures', 'demo.json').toString()) as {
    venues: DemoVenue[];
  };
  const paths = await uploadMedia(services, principal);
  for (const venue of venues) await createVenue(services, principal, venue, paths);
}
