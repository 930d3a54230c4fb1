import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readAsset } from './assets.ts';
import { systemClock } from './domain/clock.ts';
import { silentLog } from './domain/log.ts';
import { Faults, fractionsOf } from './faults/faults.ts';
import { parseServiceFault } from './faults/parse-fault.ts';
import { makeIsKnown, makeLoadShed } from './http/admission/load-shed.ts';
import { makeApp } from './http/app.ts';
import type { AppOptions } from './http/app-options.ts';
import { faultResponses, withFaults } from './http/faults/faults.ts';
import { mediaRoutes } from './http/handlers/static-file.ts';
import { makeEarlyErrors } from './http/listener/early-errors.ts';
import { listen } from './http/listener/listener.ts';
import { makeNodeHandler, serviceStopped } from './http/listener/node-handler.ts';
import { refuseTls, type Tls } from './http/listener/tls.ts';
import { makeMetrics } from './http/metrics/metrics.ts';
import { makeFastPath } from './http/request/fast-path.ts';
import { makeRemoveMountPath, mountPathOf } from './http/request/mount-path.ts';
import { checkDataAccess } from './serve/check-data-access.ts';
import { checkOpenFiles } from './serve/check-open-files.ts';
import { checkOptions } from './serve/check-options.ts';
import { makeInProcess, trackAnswers } from './serve/in-process.ts';
import { maskedLog } from './serve/masked-log.ts';
import { OutageLog } from './serve/outage-log.ts';
import type { RequestInfo, ServeOptions } from './serve/serve-options.ts';
import { makeShutdown } from './serve/shutdown.ts';
import { objectStoreOf, onDemandOf, wireOrigins } from './serve/wire-origins.ts';
import { identifyToken } from './service/auth/management-auth.ts';
import { bootstrap, checkAdminToken } from './service/bootstrap.ts';
import { startClockWatch } from './service/clock-watch.ts';
import { demoMedia, fillWithDemo } from './service/demo.ts';
import { startHousekeeping } from './service/housekeeping.ts';
import { observedStore } from './service/observed-store.ts';
import type { LockOut } from './service/pairing/rate-limit.ts';
import { makeServices } from './service/services.ts';
import { isFolder, openStore } from './store/open.ts';
import { storeClock } from './store/store-clock.ts';

/** The version of this package. Throws in a bundle, which lacks the files of the package. */
function ownVersion(): string {
  const text = readAsset('package', 'package.json').toString();
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  if (name !== 'signage-kit')
    throw new Error(
      'signage-kit does not find the files of its package. If a bundler put it into this file, make signage-kit an external package of the bundle.',
    );
  return version;
}

const version = ownVersion();

/** URL of a service that neither listens nor has a public URL. The name is reserved (RFC 6761). */
const noUrl = 'http://signage.invalid';

const deletionFailed =
  'The start failed, and the new platform token could not be deleted. Set SIGNAGE_ADMIN_TOKEN for the next start.';

/** A running service. */
export interface Running {
  /**
   * Base URL with the actual host and port, such as `http://127.0.0.1:4100`. With `listen: false`,
   * it is `publicUrl`. With `listen: false` and no `publicUrl`, it is a placeholder that no client
   * can reach.
   */
  url: string;
  /**
   * The platform token: the given token, or the token that this start created. `undefined` on later
   * starts without a given token or `newAdminToken`.
   */
  adminToken: string | undefined;
  /**
   * Returns the id of the management token with this secret, or `undefined` if the service rejects
   * it. Unlike a request, this does not end the rotation of the token.
   */
  identifyToken(secret: string): Promise<string | undefined>;
  /**
   * Answers a request without the listener, for a server of your own. Limits on guessed pairing
   * codes apply per client address. Without `info`, all callers share one limit, no address is
   * trusted, and audit entries have no address. Rejects with `invalid_option` if `remoteAddress` is
   * not an IP address. Responds with 503 after `close`.
   *
   * @example
   * app.all("/signage/*", ({ req }) => service.fetch(req.raw, { remoteAddress }));
   */
  fetch(request: Request, info?: RequestInfo): Promise<Response>;
  /**
   * Answers a request of a server of your own, as the listener would. Mount it before body parsers:
   * a request whose body was already read gets 500.
   *
   * @example
   * createServer(service.nodeHandler).listen(8080);
   */
  nodeHandler(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /**
   * Replaces the TLS certificate for new connections. Throws `invalid_option` if the certificate is
   * invalid, or if the service was started without TLS.
   */
  replaceTls(tls: Tls): void;
  /**
   * Stops accepting requests, ends long polls, and waits at most 10 s for other requests in
   * progress. Spreads the ends of the long polls of TVs over at most 8 s. Then makes everything
   * durable. Further calls return the same promise.
   */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Like `serve`, with a store that `open` opens. */
export async function serveOn(open: typeof openStore, options: ServeOptions): Promise<Running> {
  const {
    host = '127.0.0.1',
    store: given = './signage-data',
    clock = systemClock,
    random = randomBytes,
    compression = true,
    player = true,
  } = options;
  const { port, codeTtlMinutes, retentionDays, authGraceMs, publicUrl, ...connections } =
    checkOptions(options);
  const outage = new OutageLog(options.log ? maskedLog(options.log) : silentLog, clock);
  const log = outage.sink;
  const folder = typeof given === 'string' && isFolder(given) ? given : undefined;
  const isInMemory = folder !== undefined || given === 'memory:';
  checkAdminToken(options.adminToken);
  const rules = options.faults?.map(parseServiceFault) ?? [];
  const faults = rules.length > 0 ? new Faults(rules, fractionsOf(random)) : undefined;
  for (const { rule } of rules)
    log.warn({ rule }, 'This service misbehaves on purpose, by a fault rule.');
  const onDemand = await onDemandOf(options, clock);
  if (folder !== undefined)
    await checkDataAccess(folder, { allowOpenData: options.allowOpenData, log });
  const mirrored = await objectStoreOf(options, folder, clock);
  const onWarning = (message: string, cause?: unknown) => log.warn({ err: cause }, message);
  const plain =
    typeof given === 'string'
      ? await open(given, {
          clock,
          random,
          database: options.database,
          onWarning,
          onReachable: outage.onReachable,
        })
      : given;
  const stopping = new AbortController();
  // Each delay of a fault rule adds a listener, so the number of listeners has no limit.
  setMaxListeners(0, stopping.signal);
  const stops = makeShutdown();
  const metrics = makeMetrics(version);
  const observed = observedStore(plain, metrics.storeWrite);
  const opened = observed.store;
  const storeTime = storeClock(opened, clock);
  if (folder !== undefined) metrics.watchDisk(folder, clock);
  if (typeof given === 'string') stops.push(() => opened.close());
  let deleteNewToken: (() => Promise<void>) | undefined;
  try {
    const playlists = wireOrigins(
      observed,
      { isInMemory, onDemand, mirrored, hasConfigCopies: authGraceMs > 0 },
      { clock: storeTime, random, log, metrics, stops },
    );
    const onLockOut = ({ scope, source }: LockOut) => {
      metrics.registerLockout(scope);
      log.warn(
        { scope, source },
        'Too many unknown pairing codes: registrations from this source, or from untrusted sources beyond their share, are rejected for a while.',
      );
    };
    const services = makeServices({
      ...playlists,
      onChange: observed.onChange,
      clock: storeTime,
      random,
      codeTtlMinutes,
      authGraceMs,
      log,
      onLockOut,
      onHint: metrics.hint,
    });
    metrics.watchFleet(services.fleetCounts, clock);
    metrics.watchHeldDevices(services.deviceChanges.heldCount);
    metrics.watchRequestLog(services.requests.droppedCount);
    const appOptions: AppOptions = {
      services,
      clock: storeTime,
      newId: services.deps.newId,
      log,
      metrics,
      version,
      metricsToken: options.metricsToken,
      corsOrigins: options.corsOrigins ?? [],
      trustedProxies: options.trustProxy ?? [],
      compression,
      player,
      publicUrl,
      stopping: stopping.signal,
      extraRoutes: options.demo ? mediaRoutes(demoMedia(), compression) : undefined,
      faultResponses: faults && faultResponses,
    };
    const app = makeApp(appOptions);
    const { answer, idle } = trackAnswers(
      faults ? withFaults(app.fetch, { ...appOptions, faults }) : app.fetch,
    );
    stops.push(startHousekeeping(services.deps, retentionDays, log));
    stops.push(startClockWatch(services.deps, log));
    stops.push(services.denials.stop);
    stops.push(services.requests.stop);
    stops.push(idle);
    const onError = (error: Error) =>
      log.error({ err: error }, 'The listener had an error, and keeps running.');
    const earlyErrors = makeEarlyErrors({
      newId: services.deps.newId,
      clock: storeTime,
      corsOrigins: options.corsOrigins ?? [],
      metrics,
    });
    const isKnown = makeIsKnown(services.verified);
    const loadShed = makeLoadShed({
      clock,
      random,
      refuse: earlyErrors.request,
      isKnown,
      metrics,
      log,
    });
    // Runs before the port opens, so that every request finds the tenant and the platform token.
    const bootstrapped = await bootstrap(services.deps, options);
    const adminToken = bootstrapped.token;
    deleteNewToken = bootstrapped.takeBack;
    if (adminToken !== undefined && deleteNewToken) await options.keepToken?.(adminToken);
    const rewritePath = makeRemoveMountPath(mountPathOf(publicUrl));
    const handling = {
      rewritePath,
      fetch: answer,
      fastPath: makeFastPath(appOptions),
      onError,
      // Load shedding is off with fault rules, because injected delays would look like overload.
      admit: faults ? undefined : loadShed.admit,
      isKnown,
    };
    if (options.listen !== false) await checkOpenFiles(connections.maxConnections, log);
    const listener =
      options.listen === false
        ? undefined
        : await listen({ ...handling, ...connections, host, port, tls: options.tls, earlyErrors });
    const mounted = makeNodeHandler({ ...handling, earlyErrors, stopping: stopping.signal });
    stops.push(mounted.idle);
    if (listener) stops.push(listener.close);
    const url = listener?.url ?? publicUrl ?? noUrl;
    if (options.demo) await fillWithDemo(services, publicUrl ?? url);
    let closed: Promise<void> | undefined;
    const close = () => {
      stopping.abort();
      services.deviceChanges.stop();
      return stops.all();
    };
    const closeOnce = () => {
      closed ??= close();
      return closed;
    };
    return {
      url,
      adminToken,
      identifyToken: (secret) => identifyToken(services.deps, secret),
      fetch: makeInProcess(answer, {
        rewritePath,
        log,
        refuse: () => earlyErrors.response(serviceStopped()),
        stopping: stopping.signal,
      }),
      nodeHandler: mounted.nodeHandler,
      replaceTls: listener?.replaceTls ?? refuseTls,
      close: closeOnce,
      [Symbol.asyncDispose]: closeOnce,
    };
  } catch (error) {
    // Deletes the token that this start created, because `serve` does not return it. The next start
    // creates another token.
    await deleteNewToken?.().catch((err: unknown) => log.warn({ err }, deletionFailed));
    await stops.all();
    throw error;
  }
}

/**
 * Starts the service and resolves once it listens. Prints nothing, installs no signal handler,
 * reads no environment variable, and never ends the process. Several services run side by side,
 * each on its own store.
 *
 * Rejects with a `SignageError`: `invalid_option`, `port_taken`, `store_locked`, `store_damaged`
 * and others.
 *
 * @example
 * const service = await serve({ port: 0, store: 'memory:' });
 * await fetch(`${service.url}/v1/me`, {
 *   headers: { Authorization: `Bearer ${service.adminToken}` },
 * });
 * await service.close();
 */
export function serve(options: ServeOptions = {}): Promise<Running> {
  return serveOn(openStore, options);
}
