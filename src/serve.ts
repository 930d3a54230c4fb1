import { setMaxListeners } from 'node:events';
import { SignageError } from './domain/error.ts';
import { makeIsKnown, makeLoadShed } from './http/admission/load-shed.ts';
import { makeApp } from './http/app.ts';
import { makeFastPath } from './http/fast-path.ts';
import { faultResponses, withFaults } from './http/faults/with-faults.ts';
import { makeEarlyErrors } from './http/listener/early-errors.ts';
import { openListener } from './http/listener/listener.ts';
import { makeNodeHandler, serviceStopped } from './http/listener/node-handler.ts';
import { refuseTls } from './http/listener/tls.ts';
import type { AppOptions } from './http/request/app-options.ts';
import { makeRemoveMountPath, mountPathOf } from './http/request/mount-path.ts';
import { checkArgument } from './options/check-options.ts';
import { callable, oneOf, texts } from './options/shapes.ts';
import { checkOpenFiles } from './serve/check-open-files.ts';
import { makeInProcess, trackAnswers } from './serve/in-process.ts';
import { type OpenParts, openParts, rulesOf, version } from './serve/open-parts.ts';
import type { CloseOptions, Running } from './serve/running.ts';
import type { ServeOptions } from './serve/serve-options.ts';
import { startUpkeep } from './serve/start-upkeep.ts';
import { wireOrigins } from './serve/wire-origins.ts';
import { bootstrap } from './service/assembly/bootstrap.ts';
import { fillWithDemo } from './service/assembly/demo.ts';
import { makeServices } from './service/assembly/services.ts';
import { identifyToken } from './service/auth/management-auth.ts';
import type { LockOut } from './service/guesses/rate-limit.ts';
import { followNotices } from './service/notices/notice-follower.ts';
import { openStore } from './store/location/open.ts';

export type { CloseOptions, Running } from './serve/running.ts';
export type { ServiceNotice } from './service/notices/notice-follower.ts';

/** URL of a service that neither listens nor has a public URL. The name is reserved (RFC 6761). */
const noUrl = 'http://signage.invalid';

const withoutFaults = 'To change its faults, start the service with the option faults, such as [].';

const deletionFailed =
  'The start failed, and the new platform token could not be deleted. Set SIGNAGE_ADMIN_TOKEN for the next start.';

/** Makes the services over the store and the origins of playlists, and starts their upkeep. */
function startServices(parts: OpenParts) {
  const { checked, random, log, metrics, stops, observed, storeTime } = parts;
  const { codeTtlMinutes, authGraceMs } = checked;
  const playlists = wireOrigins(
    observed,
    {
      isInMemory: parts.isInMemory,
      onDemand: parts.onDemand,
      mirrored: parts.mirrored,
      hasConfigCopies: authGraceMs > 0,
    },
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
    webhookSender: parts.webhookSender,
    statements: parts.statements,
    ...playlists,
    onChange: observed.onChange,
    clock: storeTime,
    random,
    media: {
      files: parts.media.files,
      examiner: parts.media.examiner,
      limitBytes: checked.mediaLimitBytes,
      quotaBytes: checked.mediaQuotaBytes,
      onUpload: metrics.mediaUpload,
    },
    playlistQuotaBytes: checked.playlistQuotaBytes,
    codeTtlMinutes,
    authGraceMs,
    log,
    onLockOut,
    onHint: metrics.hint,
  });
  metrics.watchMedia(services.mediaUsage, parts.clock);
  metrics.watchScreens(services.screenStatus.counts, parts.clock);
  metrics.watchNotices(services.noticeFigures, () => storeTime.now());
  metrics.watchHeldDevices(services.deviceChanges.heldCount);
  metrics.watchRequestLog(services.requests.droppedCount);
  stops.push(services.denials.stop);
  stops.push(services.requests.stop);
  return services;
}

type StartedServices = ReturnType<typeof startServices>;

/** Makes what answers requests, for the listener and for servers of the embedder. */
function makeHandling(parts: OpenParts, services: StartedServices) {
  const { options, checked, faults, clock, random, log, metrics, stops, storeTime } = parts;
  const corsOrigins = options.corsOrigins ?? [];
  const compression = options.compression ?? true;
  const appOptions: AppOptions = {
    services,
    clock: storeTime,
    newId: services.deps.newId,
    log,
    metrics,
    version,
    metricsToken: options.metricsToken,
    corsOrigins,
    trustedProxies: options.trustProxy ?? [],
    compression,
    player: options.player ?? true,
    publicUrl: checked.publicUrl,
    stopping: parts.stopping.signal,
    faultResponses: faults && faultResponses,
  };
  const app = makeApp(appOptions);
  const { answer, idle } = trackAnswers(
    faults ? withFaults(app.fetch, { ...appOptions, faults }) : app.fetch,
  );
  stops.push(idle);
  const earlyErrors = makeEarlyErrors({
    newId: services.deps.newId,
    clock: storeTime,
    corsOrigins,
    metrics,
  });
  const isKnown = makeIsKnown(services.verified);
  const refuse = earlyErrors.request;
  const loadShed = makeLoadShed({ clock, random, refuse, isKnown, metrics, log });
  return {
    rewritePath: makeRemoveMountPath(mountPathOf(checked.publicUrl)),
    fetch: answer,
    fastPath: makeFastPath(appOptions),
    onError: (error: Error) =>
      log.error({ err: error }, 'The listener had an error, and keeps running.'),
    // Load shedding is off with fault rules, because injected delays would look like overload.
    admit: faults ? undefined : loadShed.admit,
    isKnown,
    earlyErrors,
  };
}

/** Starts the listener, unless the service is only mounted. */
async function startListener(
  { options, checked, log }: OpenParts,
  handling: ReturnType<typeof makeHandling>,
) {
  if (options.listen === false) return undefined;
  await checkOpenFiles(checked.maxConnections, log);
  const { host = '127.0.0.1', tls } = options;
  return openListener({ ...handling, ...checked, host, tls });
}

async function startOn(
  parts: OpenParts,
  onToken: (takeBack: () => Promise<void>) => void,
): Promise<Running> {
  const { options, checked, faults, log, stops, stopping, storeTime } = parts;
  const services = startServices(parts);
  const handling = makeHandling(parts, services);
  // Runs before the port opens, so that every request finds the tenant and the platform token.
  const { token: adminToken, takeBack } = await bootstrap(services.deps, options);
  if (adminToken !== undefined && takeBack) {
    onToken(takeBack);
    await options.keepToken?.(adminToken);
  }
  const listener = await startListener(parts, handling);
  // After the port opens, so that no TV waits for it.
  for (const stop of startUpkeep(services, parts)) stops.push(stop);
  const mounted = makeNodeHandler({ ...handling, stopping: stopping.signal });
  stops.push(mounted.idle);
  if (listener) stops.push(listener.close);
  const url = listener?.url ?? checked.publicUrl ?? noUrl;
  if (options.demo) await fillWithDemo(services);
  let closed: Promise<void> | undefined;
  const stop = () => {
    stopping.abort();
    services.deviceChanges.stop();
    return stops.all();
  };
  // Also a callback of test frameworks and signals, which pass values of their own.
  const close = (given?: CloseOptions) => {
    closed ??= stop();
    if (given?.force === true) {
      listener?.cut();
      mounted.cut();
    }
    return closed;
  };
  return {
    url,
    adminToken,
    identifyToken: (secret) => identifyToken(services.deps, secret),
    fetch: makeInProcess(handling.fetch, {
      rewritePath: handling.rewritePath,
      log,
      refuse: () => handling.earlyErrors.response(serviceStopped()),
      stopping: stopping.signal,
    }),
    nodeHandler: mounted.nodeHandler,
    on(event, listener) {
      checkArgument('on', 'event', oneOf('notice'), event);
      checkArgument('on', 'listener', callable, listener);
      const followed = { noticeLog: services.noticeLog, clock: storeTime };
      const stop = followNotices(followed, listener, (err) =>
        log.warn({ err }, 'A listener of notices failed.'),
      );
      stops.push(async () => stop());
      return stop;
    },
    replaceTls: listener?.replaceTls ?? refuseTls,
    setFaults: (rules) => {
      if (!faults) throw new SignageError('invalid_option', withoutFaults);
      checkArgument('setFaults', 'rules', texts, rules);
      faults.replace(rulesOf(rules, log));
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Like `serve`, with a store that `open` opens. */
export async function serveOn(open: typeof openStore, options: ServeOptions): Promise<Running> {
  const parts = await openParts(open, options);
  // Each delay of a fault rule adds a listener, so the number of listeners has no limit.
  setMaxListeners(0, parts.stopping.signal);
  let deleteNewToken: (() => Promise<void>) | undefined;
  try {
    return await startOn(parts, (takeBack) => {
      deleteNewToken = takeBack;
    });
  } catch (error) {
    // Deletes the token that this start created, because `serve` does not return it. The next start
    // creates another token.
    await deleteNewToken?.().catch((err: unknown) => parts.log.warn({ err }, deletionFailed));
    await parts.stops.all();
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
