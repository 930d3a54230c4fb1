import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Clock, type Random, secondMs, systemClock } from './domain/clock.ts';
import { SignageError } from './domain/error.ts';
import { makeIdSource } from './domain/id.ts';
import { type LogSink, silentLog } from './domain/log.ts';
import { makeApp } from './http/app.ts';
import { makeFaults } from './http/faults/faults.ts';
import { plantedRefusals } from './http/faults/refusal.ts';
import { withFaults } from './http/faults/with-faults.ts';
import { listen, type Tls } from './http/listener.ts';
import { mediaRoutes } from './http/media.ts';
import { type Metrics, makeMetrics } from './http/metrics.ts';
import { makeConfigCopies } from './origin/object-store/config-copies.ts';
import { makeObjectStoreOrigin } from './origin/object-store/object-store-origin.ts';
import { type AwsSettings, openObjectStore } from './origin/object-store/open-object-store.ts';
import { makePlaylistCopies } from './origin/object-store/playlist-copies.ts';
import { openOnDemand } from './origin/open-on-demand.ts';
import type { OnDemandPlaylists } from './origin/origin.ts';
import { makeOrigins } from './origin/origins.ts';
import { bootstrap, checkAdminToken } from './service/bootstrap.ts';
import { demoMediaFolder, fillWithDemo } from './service/demo.ts';
import { startHousekeeping } from './service/housekeeping.ts';
import { startMirror } from './service/mirror.ts';
import { leaveMirror } from './service/mirror-filling.ts';
import { makeOnDemandVersions } from './service/on-demand-versions.ts';
import { makeServedVersions } from './service/served-versions.ts';
import { makeServices } from './service/services.ts';
import { type DatabaseOptions, openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

export interface ServeOptions {
  /** `127.0.0.1` unless said. */
  host?: string;
  /** 4100 unless said; 0 takes any that is free. */
  port?: number;
  /** `memory:`, a folder, or `postgres://user:password@host:5432/database`; `./signage-data` unless said. */
  store?: string;
  /** How the database is used, where that is the store. */
  database?: DatabaseOptions;
  /** How long a pairing code lives: 1 to 60, 15 unless said. */
  codeTtlMinutes?: number;
  /** For how long events and the audit trail are kept; reports go on counting them. 90 unless said. */
  retentionDays?: number;
  /**
   * For how long a device key that this instance has verified is good for playlist and config while the database cannot be asked: 0 to 86,400, 0 (not at
   * all) unless said. As long, a device that is revoked elsewhere meanwhile may still be served here (docs/deployment.md).
   */
  authGraceSeconds?: number;
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
  /** Whether a first start without that makes one; it does unless said. Else it is refused: where nobody would see the new one. */
  makesToken?: boolean;
  /** Fills an empty store with a venue, screens and playlists, and serves their media. */
  demo?: boolean;
  /** Says what screens are to play now, before what was published: as a function … */
  onDemand?: OnDemandPlaylists;
  /** … or as a URL such as `https://ads.example/playlists/{screenId}` (docs/on-demand.md). */
  onDemandUrl?: string;
  /** Sent to that URL as a bearer token. */
  onDemandToken?: string;
  /** For how long an answer is held, "none" too: 0 to 3,600, 10 unless said. */
  onDemandTtlSeconds?: number;
  /** How long a TV is kept waiting for the source: 100 to 10,000, 2,000 unless said. */
  onDemandTimeoutMs?: number;
  /** The most calls of the source at a time: 1 to 1,000, 20 unless said. */
  onDemandConcurrency?: number;
  /**
   * Keeps a copy of every playlist outside the store: `file:///folder`, `s3://bucket/prefix?endpoint=…&region=…`, or `none`. The folder `mirror` beside
   * the data unless said, where those are in a folder (docs/object-store.md).
   */
  objectStore?: string;
  /** What it takes to use `s3:`; the region may also stand in its URL. */
  aws?: AwsSettings;
  /** Makes the service misbehave on purpose, for the tests of TV apps: rules such as `POST /devices/register=503:10%` (docs/simulator.md). */
  faults?: readonly string[];
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

/** The on-demand source, if the options name one. */
function onDemandOf(options: ServeOptions, clock: Clock) {
  const { onDemand: playlists, onDemandUrl: url, onDemandToken: token } = options;
  const ttlMs = whole('The lifetime of on-demand answers in seconds', options.onDemandTtlSeconds ?? 10, 0, 3600) * secondMs;
  const timeoutMs = whole('The on-demand time-out in milliseconds', options.onDemandTimeoutMs ?? 2000, 100, 10_000);
  const concurrency = whole('The number of on-demand calls at a time', options.onDemandConcurrency ?? 20, 1, 1000);
  return openOnDemand({ playlists, url, token, ttlMs, timeoutMs, concurrency }, clock);
}

/** Where copies of playlists are kept, if anywhere. */
async function objectStoreOf({ objectStore, aws = {} }: ServeOptions, location: string, clock: Clock) {
  if (objectStore === 'none') return undefined;
  if (objectStore !== undefined) return openObjectStore(objectStore, aws, clock);
  const isFolder = !/^[a-z][a-z0-9+]+:/i.test(location);
  return isFolder ? openObjectStore(pathToFileURL(resolve(location, 'mirror')).href, aws, clock) : undefined;
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

interface PlaylistPlaces {
  onDemand: ReturnType<typeof onDemandOf>;
  objectStore: Awaited<ReturnType<typeof objectStoreOf>>;
}

interface Started {
  clock: Clock;
  random: Random;
  log: LogSink;
  metrics: Metrics;
  stops: ReturnType<typeof makeStops>;
}

/** Where playlists come from, and where else they are kept. The store that it answers is the one to use: it takes note for the mirror. */
async function openPlaylists(opened: Store, { onDemand, objectStore }: PlaylistPlaces, { clock, random, log, metrics, stops }: Started) {
  const copies = objectStore && makePlaylistCopies(objectStore, clock);
  const configCopies = objectStore && makeConfigCopies(objectStore, clock);
  const mirror = copies && configCopies && startMirror({ store: opened, copies, configCopies, clock, random, log });
  const store = mirror?.store ?? opened;
  if (objectStore) stops.push(objectStore.close);
  if (mirror) stops.push(mirror.stop);
  if (mirror) metrics.watchMirror(mirror.lag, () => clock.now());
  else await leaveMirror(opened);
  if (onDemand) stops.push(onDemand.close);
  const served = makeServedVersions(store, clock);
  const kit = { store, clock, random, newId: makeIdSource(clock, random) };
  const origins = makeOrigins({
    ...{ clock, log, reader: store.read, notOlder: served.notOlder },
    objectStore: copies && makeObjectStoreOrigin(copies, clock),
    onDemand: onDemand && { ...onDemand, versions: (source, read) => makeOnDemandVersions(kit, { source, read, served }) },
  });
  metrics.watchOrigins(origins.health);
  return { store, served, origins, copies, configCopies, lag: mirror?.lag };
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
  const authGraceMs = whole('The grace of device keys in seconds', options.authGraceSeconds ?? 0, 0, 86_400) * secondMs;
  checkAdminToken(options.adminToken);
  checkLists(options);
  const faults = options.faults?.length ? makeFaults(options.faults, random) : undefined;
  for (const rule of faults?.rules ?? []) log.warn({ rule }, 'This service misbehaves on purpose, by a fault rule.');
  const onDemand = onDemandOf(options, clock);
  const objectStore = await objectStoreOf(options, location, clock);
  const onWarning = (message: string, cause?: unknown) => log.warn({ err: cause }, message);
  const opened = await openStore(location, { clock, random, database: options.database, onWarning });
  const stopping = new AbortController();
  const stops = makeStops();
  stops.push(() => opened.close());
  const metrics = makeMetrics(version);
  try {
    const playlists = await openPlaylists(opened, { onDemand, objectStore }, { clock, random, log, metrics, stops });
    const onLockOut = (source: string) => {
      metrics.registerLockout();
      log.warn({ source }, 'Too many unknown pairing codes from this source: its registrations are refused for a while.');
    };
    const services = makeServices({ ...playlists, clock, random, codeTtlMinutes, authGraceMs, onLockOut });
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
      refusals: faults && plantedRefusals,
    });
    const answer = faults ? withFaults(app.fetch, { faults, clock, stopping: stopping.signal }) : app.fetch;
    const housekeeping = startHousekeeping(services.kit, retentionDays, log);
    stops.push(housekeeping.stop);
    const mount = makeMount((request) => answer(request));
    stops.push(mount.idle);
    const onError = (error: Error) => log.error({ err: error }, 'The listener met an error; it goes on.');
    const listener = await listen({ host, port, tls: options.tls, fetch: answer, onError });
    stops.push(listener.close);
    // Not before the port is ours: the token of a first start that fails would be lost.
    const adminToken = await bootstrap(services.kit, options.adminToken, options.makesToken);
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
