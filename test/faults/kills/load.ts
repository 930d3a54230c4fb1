import { randomUUID } from 'node:crypto';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import type { Acknowledged, Impression } from './model.ts';

export function impressions(count: number): Impression[] {
  const [playlistId, creativeId, campaignId] = [randomUUID(), randomUUID(), randomUUID()];
  return Array.from({ length: count }, () => ({
    type: 'impression',
    timestamp: 1_760_000_000,
    playlistId,
    creativeId,
    campaignId,
  }));
}

/** Concurrent workers of a load. */
export interface Workers {
  /** Create a screen, pair a TV, post batches, and sometimes revoke. */
  installers: number;
  /** Publish playlists, store configs and rotate keys repeatedly. */
  editors: number;
  /** TVs that only post batches. */
  posters: number;
}

interface Place {
  url: string;
  token: string;
  venueId: string;
  seen: Acknowledged;
}

const once = { attempts: 1 };

/** Creates a screen and pairs a TV. */
async function pair({ url, token, venueId, seen }: Place) {
  const management = new ManagementClient({ url, token, retry: once });
  const screen = await management.call('createScreen', { body: { venueId, name: randomUUID() } });
  seen.screens.add(screen.id);
  const { code } = await management.call('createCode', { body: { screenId: screen.id } });
  const anyone = new RuntimeClient({ url, retry: once });
  const { deviceId, apiKey } = await anyone.register({
    pairingCode: code,
    deviceInfo: { model: 'kill test' },
  });
  seen.keys.set(deviceId, apiKey);
  seen.answers += 2;
  return { management, screenId: screen.id, deviceId, apiKey, tv: anyone.withKey(apiKey) };
}

const few = () => impressions(1 + Math.floor(Math.random() * 20));

/** Creates a screen, pairs, posts batches and sometimes revokes, until the service is gone. */
async function install(place: Place): Promise<never> {
  const { seen } = place;
  for (;;) {
    const { management, tv, deviceId, apiKey } = await pair(place);
    for (let turn = 0; turn < 4; turn++) await post(tv, { deviceId, apiKey }, few(), seen);
    if (Math.random() < 0.3) {
      seen.keys.delete(deviceId);
      await management.call('revokeDevice', { params: { id: deviceId } });
      seen.revoked.set(deviceId, apiKey);
    }
  }
}

async function postOnly(place: Place): Promise<never> {
  const { tv, deviceId, apiKey } = await pair(place);
  for (;;) await post(tv, { deviceId, apiKey }, few(), place.seen);
}

/** Replaces a value. Records the requested and the acknowledged one. */
async function write(
  seen: Acknowledged,
  name: string,
  asked: string,
  call: () => Promise<unknown>,
): Promise<void> {
  seen.edits.set(name, { acknowledged: seen.edits.get(name)?.acknowledged, asked });
  await call();
  seen.edits.set(name, { acknowledged: asked, asked });
  seen.answers++;
}

async function edit(place: Place): Promise<never> {
  const { seen } = place;
  const paired = await pair(place);
  const { management, screenId, deviceId } = paired;
  const params = { id: screenId };
  for (let { apiKey, tv } = paired; ; ) {
    const creativeId = randomUUID();
    const item = {
      creativeId,
      creativeUrl: 'https://media.example.com/a.mp4',
      creativeType: 'video' as const,
      duration: 15,
    };
    await write(seen, `playlist ${screenId}`, creativeId, () =>
      management.call('publishPlaylist', { params, body: { items: [item] } }),
    );
    const minutes = 1 + Math.floor(Math.random() * 1440);
    const body = { syncIntervalMinutes: minutes };
    await write(seen, `config ${screenId}`, String(minutes), () =>
      management.call('putScreenConfig', { params, body }),
    );
    const next = await tv.rotateKey(deviceId);
    seen.keys.set(deviceId, next);
    tv = tv.withKey(next);
    await tv.fetchConfig(screenId);
    seen.rotated.set(apiKey, { deviceId });
    seen.answers++;
    apiKey = next;
  }
}

/** Posts a batch and records its outcome. */
export async function post(
  tv: RuntimeClient,
  { deviceId, apiKey }: { deviceId: string; apiKey: string },
  batch: Impression[],
  seen: Acknowledged,
): Promise<void> {
  const key = randomUUID();
  const tally = seen.events.get(deviceId) ?? { acknowledged: 0, sent: 0 };
  seen.events.set(deviceId, tally);
  tally.sent += batch.length;
  try {
    tally.acknowledged += await tv.postEvents(deviceId, batch, { idempotencyKey: key });
    seen.answers++;
  } catch (error) {
    seen.lost.push({ deviceId, key, apiKey, batch });
    throw error;
  }
}

/** Runs all workers until the service is gone. */
export async function runLoad(
  place: Place,
  { installers, editors, posters }: Workers,
): Promise<void> {
  const several = (count: number, work: (place: Place) => Promise<never>) =>
    Array.from({ length: count }, () => work(place));
  await Promise.allSettled([
    ...several(installers, install),
    ...several(editors, edit),
    ...several(posters, postOnly),
  ]);
}
