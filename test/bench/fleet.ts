import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hashKey, makeKey } from '../../src/domain/api-key.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { makeIdSource } from '../../src/domain/id.ts';
import type { Device, Screen } from '../../src/domain/records.ts';
import { openStore } from '../../src/store/open.ts';
import type { Tx } from '../../src/store/store.ts';

const newId = makeIdSource(systemClock);
const atOnce = 250;
const perVenue = 100;
const fixtures = new URL('../../fixtures/', import.meta.url);

async function putBound(
  tx: Tx,
  tenantId: string,
  venueId: string,
  name: string,
  deviceInfo: Device['deviceInfo'],
  items: string,
): Promise<void> {
  const [screenId, deviceId, at] = [newId(), newId(), { createdAt: tx.now, updatedAt: tx.now }];
  const screen: Screen = { id: screenId, tenantId, venueId, name, labels: {}, state: 'active', deviceId, ...at };
  await tx.put('screens', screen);
  const suspended = { suspendedAt: null, suspendReason: null };
  await tx.put('devices', { id: deviceId, tenantId, venueId, screenId, state: 'bound', deviceInfo, createdAt: tx.now, ...suspended });
  const key = { id: newId(), tenantId, deviceId, screenId, hash: hashKey(makeKey('dak_', randomBytes)) };
  await tx.put('deviceKeys', { ...key, state: 'active', createdAt: tx.now, firstUsedAt: tx.now, revokedAt: null });
  const playlist = { id: screenId, screenId, tenantId, playlistId: newId(), version: 1, items };
  await tx.put('playlists', { ...playlist, state: 'active', validUntil: null, publishedAt: tx.now, origin: 'published' });
}

/** Fills a fresh data folder with bound screens, a hundred a venue, each with a playlist of ten items. */
export async function fillWithFleet(data: string, screens: number): Promise<void> {
  const store = await openStore(data);
  const deviceInfo = JSON.parse(await readFile(new URL('devices/samsung-tizen.json', fixtures), 'utf8')) as Device['deviceInfo'];
  const items = JSON.stringify(
    (JSON.parse(await readFile(new URL('playlists/retail.json', fixtures), 'utf8')) as { items: unknown }).items,
  );
  const tenantId = newId();
  await store.write((tx) => tx.put('tenants', { id: tenantId, name: 'default', createdAt: tx.now, updatedAt: tx.now }));
  let venueId = '';
  for (let done = 0; done < screens; done += atOnce) {
    await store.write(async (tx) => {
      for (let n = done; n < Math.min(done + atOnce, screens); n++) {
        if (n % perVenue === 0) {
          venueId = newId();
          const rest = { address: null, timezone: null, labels: {}, createdAt: tx.now, updatedAt: tx.now };
          await tx.put('venues', { id: venueId, tenantId, name: `Venue ${n / perVenue}`, ...rest });
        }
        await putBound(tx, tenantId, venueId, `Screen ${n}`, deviceInfo, items);
      }
    });
  }
  await store.close();
}
