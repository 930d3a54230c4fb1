import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A small program that does what the service does, in another way, in a process of its own. */
export interface Peer {
  url: string;
  /** Screens without a TV, to be used up. */
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
/**
 * Of more, a document with all their playlists comes near the longest string that Node can make:
 * there, they are left out.
 */
const mostPlaylists = 10_000;

/**
 * The same data as `fillWithFleet` makes: bound screens with a playlist each, and beside them some
 * that are free.
 */
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
      ...{
        id: randomUUID(),
        tenantId,
        deviceId,
        screenId: id,
        hash: `${randomUUID()}${randomUUID()}`,
        state: 'active',
        createdAt,
      },
    })),
    playlists:
      screens > mostPlaylists
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

/** Starts the program of this name on so many bound screens, and as many free ones as asked for. */
export async function startPeer(
  name: string,
  screens: number,
  freeScreens: number,
  more: readonly string[] = [],
): Promise<Peer> {
  const free = Array.from({ length: freeScreens }, () => randomUUID());
  const file = join(await temporaryFolder(), 'db.json');
  await writeFile(file, JSON.stringify(await documentOf(screens, free)));
  const child = fork(fileURLToPath(new URL(`${name}.js`, import.meta.url)), [file, ...more], {
    execArgv: [],
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    free,
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
