// A TV that pairs, made of the `RuntimeClient`.
import { RuntimeClient } from '../../../src/client/runtime-client.ts';
import type { FakeIo } from '../../support/process/fake-io.ts';

export const deviceInfo = {
  manufacturer: 'Samsung',
  model: 'QM55B',
  appVersion: '2.3.1',
  osVersion: 'Tizen 6.5',
};

/** Registers a TV. Returns its ids, and its next steps. */
export async function registerTv(url: string, pairingCode: string) {
  const anyone = new RuntimeClient({ url });
  const { screenId, deviceId, apiKey } = await anyone.register({ pairingCode, deviceInfo });
  const tv = anyone.withKey(apiKey);
  return {
    screenId,
    deviceId,
    tv,
    fetchPlaylist: () => tv.fetchPlaylist(screenId),
    /** Fetches the playlist of a screen that has none. */
    async missPlaylist(): Promise<void> {
      await tv.fetchPlaylist(screenId).then(
        () => Promise.reject(new Error('There is a playlist.')),
        () => {},
      );
    },
    sendEvent: () => tv.postEvents(screenId, [{ type: 'status', timestamp: 1_760_000_000 }]),
  };
}

/** Registers a TV, which fetches its playlist and sends an event. */
export async function playOn(url: string, code: string) {
  const tv = await registerTv(url, code);
  await tv.fetchPlaylist();
  await tv.sendEvent();
  return tv;
}

/** Waits until a code is printed in NDJSON, and returns it. */
export async function codeOf(io: FakeIo): Promise<string> {
  return (await io.until(/"code":"([A-Z0-9]{8})"/)).slice(8, 16);
}
