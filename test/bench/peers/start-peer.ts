import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A small server with the same endpoints, in a process of its own. */
export interface Peer {
  url: string;
  /** Ids of unbound screens. Callers remove those that they use. */
  free: string[];
  stop(): Promise<void>;
}

const deviceInfo = {
  manufacturer: 'Samsung',
  model: 'QB55C',
  osVersion: 'Tizen 7.0',
  macAddress: '00:00:5E:00:53:01',
};

const fixture = new URL('../../../fixtures/playlists/retail.json', import.meta.url);
/** With more playlists, the document would come near the maximum length of a string. */
const maxPlaylists = 10_000;

/** Returns the same data as `fillWithFleet` makes, and unbound screens. */
async function documentOf(screens: number, free: readonly string[]) {
  const { items } = JSON.parse(await readFile(fixture, 'utf8')) as { items: object[] };
  const [tenantId, createdAt] = [randomUUID(), Date.now()];
  const bound = Array.from({ length: screens }, () => ({
    id: randomUUID(),
    deviceId: randomUUID(),
    venueId: randomUUID(),
  }));
  const rows = { tenantId, createdAt, updatedAt: createdAt };
  return {
    screens: [
      ...bound.map((screen, n) => ({
        ...screen,
        ...rows,
        name: `Screen ${n}`,
        labels: {},
        state: 'active',
      })),
      ...free.map((id) => ({
        id,
        ...rows,
        venueId: randomUUID(),
        name: id,
        labels: {},
        state: 'provisioning',
        deviceId: null,
      })),
    ],
    devices: bound.map(({ id, deviceId, venueId }) => ({
      id: deviceId,
      tenantId,
      venueId,
      screenId: id,
      state: 'bound',
      deviceInfo,
      createdAt,
    })),
    deviceKeys: bound.map(({ id, deviceId }) => ({
      id: randomUUID(),
      tenantId,
      deviceId,
      screenId: id,
      hash: `${randomUUID()}${randomUUID()}`,
      state: 'active',
      createdAt,
    })),
    playlists:
      screens > maxPlaylists
        ? []
        : bound.map(({ id }) => ({
            id,
            screenId: id,
            tenantId,
            version: 1,
            state: 'active',
            items,
          })),
    codes: [],
  };
}

/** Starts `peers/<name>.js` with these numbers of bound and unbound screens. */
export async function startPeer(
  name: string,
  screens: number,
  freeScreens: number,
  more: readonly string[] = [],
): Promise<Peer> {
  const free = Array.from({ length: freeScreens }, () => randomUUID());
  const file = join(await temporaryFolder(), 'db.json');
  await writeFile(file, JSON.stringify(await documentOf(screens, free)));
  const script = new URL(`${name}.js`, import.meta.url);
  const { first, stop } = await startProgram<{ url: string }>(script, [file, ...more]);
  return { url: first.url, free, stop };
}
