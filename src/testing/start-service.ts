import { z } from 'zod';
import type { Publication, Registered, Screen } from '../client/entities.ts';
import { ManagementClient } from '../client/management-client.ts';
import type { MakeRequester } from '../client/requester.ts';
import { RuntimeClient } from '../client/runtime-client.ts';
import { makeUndiciRequester } from '../client/undici-requester.ts';
import { SignageError } from '../domain/error.ts';
import { type LogSink, silentLog } from '../domain/log.ts';
import { checkArgument } from '../options/check-options.ts';
import { object } from '../options/shapes.ts';
import type { ServeOptions } from '../serve/serve-options.ts';
import { type Running, serve } from '../serve.ts';
import { sampleDeviceInfo, samplePlaylist } from './fixtures.ts';
import { TestClock, testClock } from './test-clock.ts';

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

/** A request that the service answered. */
export interface TestRequest {
  /** Time of the answer by the clock of the service, in Unix epoch milliseconds. */
  atMs: number;
  /** Operation id, such as `getPlaylist` or `postEvents`. */
  operation: string;
  status: number;
  /** Error code of the answer. */
  code: string | undefined;
  /** Ids of the TV, if the request had a valid key. */
  deviceId: string | undefined;
  screenId: string | undefined;
  /** Fault rules that hit the request. */
  faults: readonly string[];
}

export interface TestService extends Running {
  /** The clock of the service. Clients measure time-outs by the system clock. */
  readonly clock: TestClock;
  /** A client with the platform token. */
  readonly management: ManagementClient;
  /** The requests that the service answered since its start or `reset`, in the order of answers. */
  readonly requests: readonly TestRequest[];
  /**
   * Replaces everything stored by an empty store, and the fault rules by those of the start. Ends
   * requests in progress and listeners of `on`. The URL, the platform token and the clock stay.
   * Rejects with `not_supported` unless the store is `memory:`.
   *
   * @example
   * beforeEach(() => service.reset());
   */
  reset(): Promise<void>;
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

const { setImmediate: ownSetImmediate, setTimeout: ownSetTimeout } = globalThis;

/** Throws `not_supported` while a test framework replaces the timers of HTTP. */
function refuseFakeTimers(): void {
  if (globalThis.setImmediate === ownSetImmediate && globalThis.setTimeout === ownSetTimeout)
    return;
  throw new SignageError(
    'not_supported',
    "Fake timers replace setTimeout or setImmediate, so no request would be answered. Replace only Date, as by vi.useFakeTimers({ toFake: ['Date'] }), and move the time of the service with its clock.",
  );
}

const makeRequester: MakeRequester = async (certificates) => {
  const send = makeUndiciRequester(certificates);
  return (url, parts) => {
    refuseFakeTimers();
    return send(url, parts);
  };
};

const isTestClock = 'must be a TestClock: testClock() makes one';

/** Returns a log that adds each answered request to `requests`. */
function recordRequests(requests: TestRequest[], clock: TestClock, log: LogSink): LogSink {
  const { debug, info, warn, error } = log;
  return {
    debug(fields, message) {
      if (message === 'request') {
        const { operation, status, code, deviceId, screenId, faults } =
          fields as Partial<TestRequest>;
        requests.push({
          atMs: clock.now(),
          operation: operation as string,
          status: status as number,
          code,
          deviceId,
          screenId,
          faults: faults ?? [],
        });
      }
      debug.call(log, fields, message);
    },
    info: info.bind(log),
    warn: warn.bind(log),
    error: error.bind(log),
  };
}

/**
 * Starts a service in memory on a free port of this machine, with a clock that stands still.
 * Several services run side by side. Rejects like `serve`, and with `not_supported` while fake
 * timers replace more than `Date`; so do the calls of its clients.
 *
 * @example
 * await using service = await startService();
 * const { client, screenId } = await service.createTv();
 * service.clock.advance(60_000);
 * await client.fetchPlaylist(screenId);
 */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  checkArgument('startService', 'options', object, options);
  const { clock = testClock(), store = 'memory:' } = options;
  checkArgument('startService', 'clock', z.instanceof(TestClock, { error: isTestClock }), clock);
  refuseFakeTimers();
  const requests: TestRequest[] = [];
  const log = recordRequests(requests, clock, options.log ?? silentLog);
  const own = { port: 0, faults: [], ...options, store, clock, log };
  let running = await serve(own);
  const { url } = running;
  const token = options.adminToken ?? running.adminToken;
  if (token === undefined) {
    await running.close();
    throw new SignageError('invalid_option', 'This store was used before. Pass its adminToken.');
  }
  const management = new ManagementClient({ url, token, makeRequester });
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
    const anyone = new RuntimeClient({ url, makeRequester });
    const pairingCode = await createCode(screenId);
    const registered = await anyone.register({ pairingCode, deviceInfo: sampleDeviceInfo });
    return { ...registered, client: anyone.withKey(registered.apiKey) };
  }

  async function reset(): Promise<void> {
    refuseFakeTimers();
    if (store !== 'memory:')
      throw new SignageError(
        'not_supported',
        'Only a service with the store memory: can be reset.',
      );
    await running.close({ force: true });
    requests.length = 0;
    count = 0;
    running = await serve({ ...own, port: Number(new URL(url).port), adminToken: token });
  }

  return {
    url,
    adminToken: token,
    clock,
    management,
    requests,
    createScreen,
    createCode,
    createTv,
    reset,
    identifyToken: (secret) => running.identifyToken(secret),
    fetch: (...request) => running.fetch(...request),
    nodeHandler: (...request) => running.nodeHandler(...request),
    on: (...followed) => running.on(...followed),
    setFaults: (rules) => running.setFaults(rules),
    replaceTls: (tls) => running.replaceTls(tls),
    close: (how) => running.close(how),
    [Symbol.asyncDispose]: () => running.close(),
  };
}
