import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LogSink } from '../../domain/log.ts';
import { type Running, serve } from '../../serve.ts';
import { checkSecretFiles } from '../api/file-access.ts';
import { isLoopback } from '../api/loopback.ts';
import { readSecretFile } from '../api/private-file.ts';
import type { Context, Flags } from '../command/environment.ts';
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
  { io, clock, random }: Context,
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
      'Without TLS, keys and tokens cross the network in clear: use --tls-cert and --tls-key, or a proxy that speaks HTTPS.',
    );
  }
  let kept: string | undefined;
  const running = serve({
    ...{
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
    },
    store: storePlace(settings),
    allowOpenData: settings.allowOpenData,
    database: {
      poolSize: settings.databasePoolSize,
      statementTimeoutSeconds: settings.databaseStatementTimeout,
      lockTimeoutSeconds: settings.databaseLockTimeout,
    },
    // The token of a first start is shown, or goes into the data folder: with a database and no terminal there is no place for it.
    makesToken: settings.store === 'json' || io.stdout.isTTY,
    keepToken: async (token) => {
      kept = await keepToken(token, settings, io);
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
    // A start that fails takes its token back.
    if (kept !== undefined) await rm(kept, { force: true });
    throw error;
  });
}

/** SIGHUP reads certificate and key again; when that fails, the old ones stay. Without TLS the signal keeps its own meaning. */
function reloadOnHangup(
  running: Running,
  { tlsCert, tlsKey }: ServeValues,
  log: LogSink,
  { io }: Context,
): () => void {
  if (tlsCert === undefined) return () => {};
  return io.onSignal('SIGHUP', () => {
    readTls(tlsCert, tlsKey).then(
      (tls) => {
        if (tls) running.replaceTls(tls);
        log.info({}, 'Certificate and key were read again.');
      },
      (err: unknown) =>
        log.error({ err }, 'Certificate and key could not be read again: the old ones stay.'),
    );
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}

/** A context that cannot be saved is no reason not to serve. */
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
      'The context "local" could not be saved: commands need SIGNAGE_URL and SIGNAGE_TOKEN.',
    );
    return undefined;
  }
}

/** Tells people that the service runs, and where; then lets it run until it is interrupted. */
async function runUntilInterrupted(
  running: Running,
  settings: ServeValues,
  log: LogSink,
  context: Context,
): Promise<void> {
  const { io, interrupted } = context;
  const known = await knownToken(running.adminToken, settings, io);
  if (known.file && running.adminToken)
    log.info({ file: resolve(known.file) }, 'The platform token is in this file.');
  log.info({ url: running.url }, 'The service is ready.');
  io.stdout.write(
    banner({
      url: running.url,
      data: shownPlace(settings),
      known,
      reach: await tryToSaveContext(running, known.token, settings, log, io),
    }),
  );
  const stopReloading = reloadOnHangup(running, settings, log, context);
  const demo = settings.demo
    ? runDemo({ ...context, url: running.url, token: known.token, log, signal: interrupted })
    : undefined;
  const residents = runSimulatedTvs(
    { ...context, url: running.url, token: known.token, log, signal: interrupted },
    settings,
  );
  await aborted(interrupted);
  log.info({}, 'Stopping: what is under way is finished first. Interrupt again to stop at once.');
  stopReloading();
  await Promise.all([demo, residents]);
}

/** Other users of a machine can read the command lines of all processes. */
function warnOfVisibleSecrets(flags: Flags, log: LogSink): void {
  const where = 'stands in the command line, for everybody on this machine to read: use';
  if (showsPassword(flags))
    log.warn({}, `The database password ${where} SIGNAGE_STORE or --store-file.`);
  if (flags.metricsToken !== undefined)
    log.warn({}, `The metrics token ${where} SIGNAGE_METRICS_TOKEN or --metrics-token-file.`);
}

/** `signage serve`: runs the service until SIGINT or SIGTERM, then ends it in good order. */
export async function runService(context: Context, flags: Flags): Promise<number> {
  const given = readSettings(serveSettings, flags, context.io.env);
  const settings = { ...given, store: await givenStore(given) };
  requireTokenPlace(settings, context.io);
  const log = makeLogger({
    io: context.io,
    clock: context.clock,
    level: settings.logLevel,
    format: settings.logFormat,
  });
  warnOfVisibleSecrets(flags, log);
  const running = await start(settings, log, context);
  try {
    await runUntilInterrupted(running, settings, log, context);
  } finally {
    await running.close();
  }
  log.info({}, 'Stopped.');
  return 0;
}
