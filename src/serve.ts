import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { type Clock, type Random, systemClock } from './domain/clock.ts';
import { SignageError } from './domain/error.ts';
import { type LogSink, silentLog } from './domain/log.ts';
import { makeApp } from './http/app.ts';
import { listen, type Tls } from './http/listener.ts';
import { mediaRoutes } from './http/media.ts';
import { makeMetrics } from './http/metrics.ts';
import { makeChain } from './origin/chain.ts';
import { makeStoredOrigin } from './origin/stored.ts';
import { bootstrap, checkAdminToken } from './service/bootstrap.ts';
import { demoMediaFolder, fillWithDemo } from './service/demo.ts';
import { startHousekeeping } from './service/housekeeping.ts';
import { makeServices } from './service/services.ts';
import { openStore } from './store/open.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

export interface ServeOptions {
  /** `127.0.0.1` unless said. */
  host?: string;
  /** 4100 unless said; 0 takes any that is free. */
  port?: number;
  /** `memory:`, or a folder; `./signage-data` unless said. */
  store?: string;
  /** How long a pairing code lives: 1 to 60, 15 unless said. */
  codeTtlMinutes?: number;
  /** For how long events and the audit trail are kept; reports go on counting them. 90 unless said. */
  retentionDays?: number;
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  trustProxy?: readonly string[];
  /** Origins of web TV apps that may call from a browser. */
  corsOrigins?: readonly string[];
  /** PEM texts. */
  tls?: Tls;
  /** Opens `/metrics` to others than this machine. */
  metricsToken?: string;
  /** The bootstrap token: `mak_` and at least 24 characters of A-Z, a-z and 0-9. */
  adminToken?: string;
  /** Fills an empty store with a venue, screens and playlists, and serves their media. */
  demo?: boolean;
  clock?: Clock;
  random?: Random;
  /** Silent unless given. */
  log?: LogSink;
}

export interface Running {
  url: string;
  /** The platform token: the given one, or the one made on empty storage; `undefined` on later starts without one. */
  adminToken: string | undefined;
  /** Answers a request without the listener, for a server of one's own. */
  fetch(request: Request): Promise<Response>;
  replaceTls(tls: Tls): void;
  /** Stops accepting, finishes what is under way (at most 10 s; long polls end at once), and makes everything durable. */
  close(): Promise<void>;
}

const invalidOption = (message: string) => new SignageError('invalid_option', message);

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidOption(`${name} must be a whole number from ${min} to ${max}.`);
}

/** An origin as browsers send it: `https://tv.example.com`; packaged apps send `null` or one of a scheme of their own. */
function isOrigin(text: string): boolean {
  if (text === '*' || text === 'null') return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Refuses what would silently never match. */
function checkLists({ trustProxy = [], corsOrigins = [] }: ServeOptions): void {
  const proxy = trustProxy.find((address) => !isIP(address));
  if (proxy !== undefined) throw invalidOption(`A trusted proxy is named by its IP address: ${JSON.stringify(proxy)} is none.`);
  const origin = corsOrigins.find((text) => !isOrigin(text));
  if (origin !== undefined) {
    throw invalidOption(
      `${JSON.stringify(origin)} is no origin: write scheme, host and port as browsers do, such as https://tv.example.com.`,
    );
  }
}

/** Answers without the listener, and remembers which answers are still to come. */
function makeMount(answer: (request: Request) => Response | Promise<Response>) {
  const underWay = new Set<Promise<Response>>();
  return {
    async fetch(request: Request): Promise<Response> {
      const answered = Promise.resolve(answer(request));
      underWay.add(answered);
      return answered.finally(() => underWay.delete(answered));
    },
    idle: async () => void (await Promise.allSettled(underWay)),
  };
}

/** What was started, to be stopped in the other order. */
function makeStops() {
  const stops: (() => Promise<void>)[] = [];
  return {
    push: (stop: () => Promise<void>) => void stops.push(stop),
    async all(): Promise<void> {
      for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
    },
  };
}

/**
 * Runs the service until it is closed. Prints nothing, installs no signal handler, reads no environment, never ends the process; two can run
 * side by side, each on its own store. Throws `SignageError`s: `invalid_option`, `port_taken`, `store_locked`, `store_damaged`, …
 *
 * @example
 * const service = await serve({ port: 0, store: 'memory:' });
 * await fetch(`${service.url}/v1/me`, { headers: { Authorization: `Bearer ${service.adminToken}` } });
 * await service.close();
 */
export async function serve(options: ServeOptions = {}): Promise<Running> {
  const { host = '127.0.0.1', store: location = './signage-data', clock = systemClock, random = randomBytes, log = silentLog } = options;
  const port = whole('The port', options.port ?? 4100, 0, 65_535);
  const codeTtlMinutes = whole('The lifetime of codes in minutes', options.codeTtlMinutes ?? 15, 1, 60);
  const retentionDays = whole('The retention in days', options.retentionDays ?? 90, 1, 36_500);
  checkAdminToken(options.adminToken);
  checkLists(options);
  const store = await openStore(location, { clock, random, onWarning: (message, cause) => log.warn({ err: cause }, message) });
  const stopping = new AbortController();
  const stops = makeStops();
  stops.push(() => store.close());
  const metrics = makeMetrics(version);
  try {
    const askOrigins = makeChain([makeStoredOrigin(store.read, clock)]);
    const onLockOut = (source: string) => {
      metrics.registerLockout();
      log.warn({ source }, 'Too many unknown pairing codes from this source: its registrations are refused for a while.');
    };
    const services = makeServices({ store, clock, random, askOrigins, codeTtlMinutes, onLockOut });
    const app = makeApp({
      services,
      clock,
      newId: services.kit.newId,
      log,
      metrics,
      version,
      metricsToken: options.metricsToken,
      corsOrigins: options.corsOrigins ?? [],
      trustedProxies: options.trustProxy ?? [],
      stopping: stopping.signal,
      extra: options.demo ? mediaRoutes(demoMediaFolder) : undefined,
    });
    const housekeeping = startHousekeeping(services.kit, retentionDays, log);
    stops.push(housekeeping.stop);
    const mount = makeMount((request) => app.fetch(request));
    stops.push(mount.idle);
    const onError = (error: Error) => log.error({ err: error }, 'The listener met an error; it goes on.');
    const listener = await listen({ host, port, tls: options.tls, fetch: (request, bindings) => app.fetch(request, bindings), onError });
    stops.push(listener.close);
    // Not before the port is ours: the token of a first start that fails would be lost.
    const adminToken = await bootstrap(services.kit, options.adminToken);
    if (options.demo) await fillWithDemo(services, listener.url);
    let closed: Promise<void> | undefined;
    const close = () => {
      stopping.abort();
      return stops.all();
    };
    return { url: listener.url, adminToken, fetch: mount.fetch, replaceTls: listener.replaceTls, close: () => (closed ??= close()) };
  } catch (error) {
    await stops.all();
    throw error;
  }
}
