import type { Publication, Registered, Screen } from '../client/entities.ts';
import { ManagementClient } from '../client/management-client.ts';
import { RuntimeClient } from '../client/runtime-client.ts';
import { SignageError } from '../domain/error.ts';
import type { ServeOptions } from '../serve/serve-options.ts';
import { type Running, serve } from '../serve.ts';
import { sampleDeviceInfo, samplePlaylist } from './fixtures.ts';
import { type TestClock, testClock } from './test-clock.ts';

/**
 * Options of `startService`: the options of `serve`, with a clock that stands still.
 */
export interface TestServiceOptions extends Omit<ServeOptions, 'clock' | 'listen'> {
  /** Default: `testClock()`. */
  clock?: TestClock;
}

export interface TestTv extends Registered {
  /** A client with the key of the TV. */
  client: RuntimeClient;
}

export interface TestService extends Running {
  /** The clock of the service. Clients measure time-outs by the system clock. */
  readonly clock: TestClock;
  /** A client with the platform token. */
  readonly management: ManagementClient;
  /**
   * Creates a screen in its own venue, and publishes the playlist. `null` publishes nothing.
   * Default: `samplePlaylist`.
   */
  createScreen(playlist?: Publication | null): Promise<Screen>;
  /** Creates a pairing code. Default: for a new screen. */
  createCode(screenId?: string): Promise<string>;
  /** Registers a TV. Default: for a new screen. */
  createTv(screenId?: string): Promise<TestTv>;
}

/**
 * Starts a service in memory on a free port of this machine, with a clock that stands still.
 * Several services run side by side. Rejects like `serve`.
 *
 * @example
 * await using service = await startService();
 * const { client, screenId } = await service.createTv();
 * service.clock.advance(60_000);
 * await client.fetchPlaylist(screenId);
 */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { clock = testClock() } = options;
  const running = await serve({ port: 0, store: 'memory:', ...options, clock });
  const token = options.adminToken ?? running.adminToken;
  if (token === undefined) {
    await running.close();
    throw new SignageError('invalid_option', 'This store was used before. Pass its adminToken.');
  }
  const management = new ManagementClient({ url: running.url, token });
  let count = 0;

  async function createScreen(playlist: Publication | null = samplePlaylist): Promise<Screen> {
    count++;
    const venue = await management.call('createVenue', { body: { name: `Venue ${count}` } });
    const body = { venueId: venue.id, name: `Screen ${count}` };
    const screen = await management.call('createScreen', { body });
    if (playlist)
      await management.call('publishPlaylist', { params: { id: screen.id }, body: playlist });
    return screen;
  }

  async function createCode(screenId?: string): Promise<string> {
    const id = screenId ?? (await createScreen()).id;
    return (await management.call('createCode', { body: { screenId: id } })).code;
  }

  async function createTv(screenId?: string): Promise<TestTv> {
    const anyone = new RuntimeClient({ url: running.url });
    const pairingCode = await createCode(screenId);
    const registered = await anyone.register({ pairingCode, deviceInfo: sampleDeviceInfo });
    return { ...registered, client: anyone.withKey(registered.apiKey) };
  }

  return { ...running, clock, management, createScreen, createCode, createTv };
}
