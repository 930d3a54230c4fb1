import { randomUUID } from 'node:crypto';
import { ManagementClient } from '../../src/client/management-client.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';

/** What was acknowledged so far: all of it must be there after any kill. */
export interface Acknowledged {
  screens: Set<string>;
  /** Keys of bound devices, by device. */
  keys: Map<string, string>;
  revoked: Map<string, string>;
  /** Events of each device: acknowledged, and sent at all (one that was not answered may be there or not). */
  events: Map<string, { acknowledged: number; sent: number }>;
  /** Batches whose answer was lost, to be sent again under the same key: then they count once. */
  lost: { deviceId: string; key: string; apiKey: string; batch: Impression[] }[];
}

export type Impression = { type: string; timestamp: number; playlistId: string; creativeId: string; campaignId: string };

export function nothingYet(): Acknowledged {
  return { screens: new Set(), keys: new Map(), revoked: new Map(), events: new Map(), lost: [] };
}

export function impressions(count: number): Impression[] {
  const [playlistId, creativeId, campaignId] = [randomUUID(), randomUUID(), randomUUID()];
  return Array.from({ length: count }, () => ({ type: 'impression', timestamp: 1_760_000_000, playlistId, creativeId, campaignId }));
}

/** One installer and its TV: makes a screen, pairs, posts batches, now and then revokes; until the service is gone. */
async function work(url: string, token: string, venueId: string, seen: Acknowledged): Promise<never> {
  const management = new ManagementClient({ url, token, retry: { attempts: 1 } });
  for (;;) {
    const screen = await management.call('createScreen', { body: { venueId, name: randomUUID() } });
    seen.screens.add(screen.id);
    const { code } = await management.call('createCode', { body: { screenId: screen.id } });
    const anyone = new RuntimeClient({ url, retry: { attempts: 1 } });
    const { deviceId, apiKey } = await anyone.register({ pairingCode: code, deviceInfo: { model: 'kill test' } });
    seen.keys.set(deviceId, apiKey);
    for (let turn = 0; turn < 4; turn++) {
      await post(anyone.withKey(apiKey), { deviceId, apiKey }, impressions(1 + Math.floor(Math.random() * 20)), seen);
    }
    if (Math.random() < 0.3) {
      seen.keys.delete(deviceId);
      await management.call('revokeDevice', { params: { id: deviceId } });
      seen.revoked.set(deviceId, apiKey);
    }
  }
}

/** Posts a batch, and notes what was acknowledged; one without an answer may have been stored or not. */
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
  } catch (error) {
    seen.lost.push({ deviceId, key, apiKey, batch });
    throw error;
  }
}

/** Runs several of them until every one has met the end of the service. */
export async function load(url: string, token: string, venueId: string, seen: Acknowledged, workers = 12): Promise<void> {
  await Promise.allSettled(Array.from({ length: workers }, () => work(url, token, venueId, seen)));
}
