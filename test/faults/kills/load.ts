import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManagementClient } from '../../../src/client/management-client.ts';
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import { hasCode, SignageError } from '../../../src/domain/error.ts';
import { item } from '../../support/service/content.ts';
import type { Acknowledged, Impression } from './model.ts';

function impressions(count: number): Impression[] {
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
  /** Publish on many screens of their own by one call, repeatedly. */
  publishers?: number;
  /** Number of screens of each publisher. Default: 20. */
  screensEach?: number;
}

export interface Place {
  url: string;
  token: string;
  venueId: string;
  seen: Acknowledged;
  /** Default: nothing is tried again. */
  retry?: { attempts: number; firstDelayMs: number; longestDelayMs: number };
  onExchange?: (exchange: { method: string; path: string; outcome: string }) => void;
}

/** Calls again like a person after an answer that was lost, or that tells to. */
async function again<T>({ retry }: Place, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const isPassing = hasCode(error, 'unreachable') || hasCode(error, 'unavailable');
      if (!retry || !isPassing || tries === retry.attempts) throw error;
      await sleep(retry.firstDelayMs * tries);
    }
  }
}

/** Creates a screen and pairs a TV. */
async function pair(place: Place) {
  const { url, token, venueId, seen, retry = { attempts: 1 }, onExchange } = place;
  const options = { url, retry, ...(onExchange && { onExchange }) };
  const management = new ManagementClient({ ...options, token });
  const body = { venueId, name: randomUUID() };
  const screenId = await again(place, async () => {
    try {
      return (await management.call('createScreen', { body })).id;
    } catch (error) {
      // The answer to an earlier attempt was lost.
      if (error instanceof SignageError && error.existingId) return error.existingId;
      throw error;
    }
  });
  seen.screens.add(screenId);
  const { code } = await again(place, () => management.call('createCode', { body: { screenId } }));
  const anyone = new RuntimeClient(options);
  const { deviceId, apiKey } = await anyone.register({
    pairingCode: code,
    deviceInfo: { model: 'kill test' },
  });
  seen.keys.set(deviceId, apiKey);
  seen.answers += 2;
  return { management, screenId, deviceId, apiKey, tv: anyone.withKey(apiKey) };
}

const few = () => impressions(1 + Math.floor(Math.random() * 20));

/** Creates a screen, pairs, posts batches and sometimes revokes. */
async function liveOnce(place: Place): Promise<void> {
  const { seen } = place;
  const { management, tv, deviceId, apiKey } = await pair(place);
  for (let turn = 0; turn < 4; turn++) await post(tv, { deviceId, apiKey }, few(), seen);
  if (Math.random() > 0.3) return;
  seen.keys.delete(deviceId);
  await again(place, () => management.call('revokeDevice', { params: { id: deviceId } }));
  seen.revoked.set(deviceId, apiKey);
}

/** Replaces a value. Records the requested and the acknowledged one. */
async function write(
  place: Place,
  name: string,
  asked: string,
  call: () => Promise<unknown>,
): Promise<void> {
  const { seen } = place;
  seen.edits.set(name, { acknowledged: seen.edits.get(name)?.acknowledged, asked });
  await again(place, call);
  seen.edits.set(name, { acknowledged: asked, asked });
  seen.answers++;
}

async function edit(place: Place, isOver: () => boolean): Promise<void> {
  const { seen } = place;
  const paired = await pair(place);
  const { management, screenId, deviceId } = paired;
  const params = { id: screenId };
  for (let { apiKey, tv } = paired; !isOver(); ) {
    const creativeId = randomUUID();
    await write(place, `playlist ${screenId}`, creativeId, () =>
      management.call('publishPlaylist', {
        params,
        body: { items: [item({ creativeId }) as never] },
      }),
    );
    const minutes = 1 + Math.floor(Math.random() * 1440);
    const body = { syncIntervalMinutes: minutes };
    await write(place, `config ${screenId}`, String(minutes), () =>
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

/** Publishes on all screens by one call. A call must be stored whole, or not at all. */
async function publishTogether(
  place: Place,
  isOver: () => boolean,
  screensEach: number,
): Promise<void> {
  const { url, token, venueId, seen } = place;
  const management = new ManagementClient({ url, token, retry: { attempts: 1 } });
  const screenIds: string[] = [];
  while (screenIds.length < screensEach) {
    const body = { venueId, name: randomUUID() };
    screenIds.push((await again(place, () => management.call('createScreen', { body }))).id);
  }
  for (const id of screenIds) seen.screens.add(id);
  const tally = { acknowledged: 0, asked: 0 };
  seen.publications.set(screenIds.join(), tally);
  while (!isOver()) {
    tally.asked++;
    const creativeId = randomUUID();
    const items = [item({ creativeId }) as never];
    await write(place, `playlists ${screenIds.join(',')}`, creativeId, () =>
      management.call('publishMany', { body: { screenIds, action: 'publish', items } }),
    );
    tally.acknowledged++;
  }
}

/** Posts a batch and records its outcome. */
async function post(
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

async function postOnly(place: Place, isOver: () => boolean): Promise<void> {
  const { tv, deviceId, apiKey } = await pair(place);
  while (!isOver()) await post(tv, { deviceId, apiKey }, few(), place.seen);
}

/** Starts all workers. Each goes on after `failed`, unless that throws. */
export function startWorkers(
  place: Place,
  { installers, editors, posters, publishers = 0, screensEach = 20 }: Workers,
  isOver: () => boolean,
  failed: (error: unknown) => void,
): Promise<void>[] {
  const several = (count: number, work: (place: Place, isOver: () => boolean) => Promise<void>) =>
    Array.from({ length: count }, async () => {
      while (!isOver()) await work(place, isOver).catch(failed);
    });
  return [
    ...several(installers, liveOnce),
    ...several(editors, edit),
    ...several(posters, postOnly),
    ...several(publishers, (own, isEnd) => publishTogether(own, isEnd, screensEach)),
  ];
}

/** Runs all workers until the service is gone. */
export async function runLoad(place: Place, workers: Workers): Promise<void> {
  const isOver = () => false;
  const failed = (error: unknown) => Promise.reject(error);
  await Promise.allSettled(startWorkers(place, workers, isOver, failed));
}
