import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LogSink } from '../../domain/log.ts';
import { type Running, serve } from '../../serve.ts';
import { isLoopback } from '../api/loopback.ts';
import { checkSecretFiles, readSecretFile } from '../api/private-file.ts';
import type { Environment, Flags } from '../command/environment.ts';
import { readSettings } from '../options/settings.ts';
import type { Io } from '../terminal/io.ts';
import { keepToken, knownToken, requireTokenPlace } from './admin-token.ts';
import { readAwsSettings } from './aws.ts';
import { banner } from './banner.ts';
import { runDemo } from './demo.ts';
import { makeLogger } from './logger.ts';
import { readOnDemand } from './on-demand.ts';
import { type ServeValues, serveSettings } from './options.ts';
import { saveLocalContext } from './save-context.ts';
import { runSimulatedTvs } from './simulated-tvs.ts';
import { givenStore, shownPlace, showsPassword, storePlace } from './store-location.ts';
import { readTls } from './tls.ts';

async function start(
  settings: ServeValues,
  log: LogSink,
  { io, clock, random }: Environment,
): Promise<Running> {
  const {
    host,
    port,
    codeTtlMinutes,
    retentionDays,
    authGraceSeconds,
    trustProxy,
    demo,
    metricsTokenFile,
  } = settings;
  const secretFiles = [
    settings.storeFile,
    settings.tlsKey,
    metricsTokenFile,
    settings.onDemandTokenFile,
  ];
  await checkSecretFiles(secretFiles, settings.allowOpenData, log);
  const tls = await readTls(settings.tlsCert, settings.tlsKey);
  const metricsToken = metricsTokenFile
    ? await readSecretFile(metricsTokenFile, 'The file of the metrics token')
    : settings.metricsToken;
  if (!tls && !isLoopback(host)) {
    log.warn(
      { host },
      'Without TLS, keys and tokens cross the network in clear text: use --tls-cert and --tls-key, or a proxy with HTTPS.',
    );
  }
  let keptTokenFile: string | undefined;
  const running = serve({
    host,
    port,
    codeTtlMinutes,
    retentionDays,
    authGraceSeconds,
    trustProxy,
    demo,
    clock,
    random,
    log,
    store: storePlace(settings),
    allowOpenData: settings.allowOpenData,
    database: {
      poolSize: settings.databasePoolSize,
      statementTimeoutSeconds: settings.databaseStatementTimeout,
      lockTimeoutSeconds: settings.databaseLockTimeout,
    },
    // A new token is shown on the terminal or written to the data folder. A service with a database
    // and without a terminal would lose it.
    makesToken: settings.store === 'json' || io.stdout.isTTY,
    keepToken: async (token) => {
      keptTokenFile = await keepToken(token, settings, io);
    },
    corsOrigins: settings.corsOrigin,
    faults: settings.fault,
    aws: readAwsSettings(io),
    ...(await readOnDemand(settings, io, log)),
    ...(settings.objectStore && { objectStore: settings.objectStore }),
    ...(tls && { tls }),
    ...(metricsToken && { metricsToken }),
    ...(io.env.SIGNAGE_ADMIN_TOKEN && { adminToken: io.env.SIGNAGE_ADMIN_TOKEN }),
  });
  return running.catch(async (error: unknown) => {
    // A failed start leaves no token file behind.
    if (keptTokenFile !== undefined) await rm(keptTokenFile, { force: true });
    throw error;
  });
}

/**
 * Reloads certificate and key at SIGHUP. Keeps the old ones after an error. Without TLS, the signal
 * has its default action.
 */
function reloadOnHangup(
  running: Running,
  { tlsCert, tlsKey }: ServeValues,
  log: LogSink,
  { io }: Environment,
): () => void {
  if (tlsCert === undefined) return () => {};
  return io.onSignal('SIGHUP', () => {
    readTls(tlsCert, tlsKey).then(
      (tls) => {
        if (tls) running.replaceTls(tls);
        log.info({}, 'Certificate and key were reloaded.');
      },
      (err: unknown) =>
        log.error({ err }, 'Certificate and key could not be reloaded: the old ones stay in use.'),
    );
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}

/** Saves the context `local`. An error is logged and does not stop the service. */
async function tryToSaveContext(
  running: Running,
  token: string | undefined,
  settings: ServeValues,
  log: LogSink,
  io: Io,
) {
  try {
    return await saveLocalContext(running, token, settings, io);
  } catch (err) {
    log.warn(
      { err },
      'The context "local" could not be saved: set SIGNAGE_URL and SIGNAGE_TOKEN for commands.',
    );
    return undefined;
  }
}

/** Prints the banner, and runs the service until it is interrupted. */
async function runUntilInterrupted(
  running: Running,
  settings: ServeValues,
  log: LogSink,
  environment: Environment,
): Promise<void> {
  const { io, interrupted } = environment;
  const known = await knownToken(running.adminToken, settings, io);
  if (known.file && running.adminToken)
    log.info({ file: resolve(known.file) }, 'This file contains the platform token.');
  log.info({ url: running.url }, 'The service is ready.');
  io.stdout.write(
    banner({
      url: running.url,
      data: shownPlace(settings),
      known,
      flags: await tryToSaveContext(running, known.token, settings, log, io),
    }),
  );
  const stopReloading = reloadOnHangup(running, settings, log, environment);
  const demo = settings.demo
    ? runDemo({ ...environment, url: running.url, token: known.token, log, signal: interrupted })
    : undefined;
  const simulatedTvs = runSimulatedTvs(
    { ...environment, url: running.url, token: known.token, log, signal: interrupted },
    settings,
  );
  await aborted(interrupted);
  log.info({}, 'Stopping after the requests in flight. Interrupt again to stop at once.');
  stopReloading();
  await Promise.all([demo, simulatedTvs]);
}

/** Warns of secrets on the command line, which other users of the machine can read. */
function warnOfVisibleSecrets(flags: Flags, log: LogSink): void {
  const where = 'is in the command line, where everyone on this machine can read it: use';
  if (showsPassword(flags))
    log.warn({}, `The database password ${where} SIGNAGE_STORE or --store-file.`);
  if (flags.metricsToken !== undefined)
    log.warn({}, `The metrics token ${where} SIGNAGE_METRICS_TOKEN or --metrics-token-file.`);
}

/** `signage serve`: runs the service until SIGINT or SIGTERM, then shuts it down gracefully. */
export async function runService(environment: Environment, flags: Flags): Promise<number> {
  const given = readSettings(serveSettings, flags, environment.io.env);
  const settings = { ...given, store: await givenStore(given) };
  requireTokenPlace(settings, environment.io);
  const log = makeLogger({
    io: environment.io,
    clock: environment.clock,
    level: settings.logLevel,
    format: settings.logFormat,
  });
  warnOfVisibleSecrets(flags, log);
  const running = await start(settings, log, environment);
  try {
    await runUntilInterrupted(running, settings, log, environment);
  } finally {
    await running.close();
  }
  log.info({}, 'Stopped.');
  return 0;
}
