import { once } from 'node:events';
import { resolve } from 'node:path';
import { SignageError } from '../../../domain/error.ts';
import type { LogSink } from '../../../domain/log.ts';
import type { Running } from '../../../serve.ts';
import { givenStore, visibleSecret, warnOfPassword } from '../../connection/store-location.ts';
import type { Flags } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import type { Environment } from '../../terminal/environment.ts';
import { knownToken, requireTokenPlace } from './admin-token.ts';
import { makeLogger } from './logger.ts';
import type { ServeValues } from './options.ts';
import { readTls, startService } from './start.ts';
import { ownToken, welcome } from './welcome.ts';

/**
 * Reloads the certificate and the key on SIGHUP. If that fails, the old ones stay in use. Without
 * TLS, SIGHUP has its default action.
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

/** Prints the banner, and runs the service until it is interrupted or has failed. */
async function runUntilInterrupted(
  running: Running,
  settings: ServeValues,
  log: LogSink,
  environment: Environment,
  failed: AbortSignal,
): Promise<void> {
  const { io, interrupted } = environment;
  const over = AbortSignal.any([interrupted, failed]);
  const known = await knownToken(running, settings, log, io);
  if (known.file && running.adminToken)
    log.info({ file: resolve(known.file) }, 'This file contains the platform token.');
  log.info({ url: running.url }, 'The service is ready.');
  await welcome(running, known, settings, log, io);
  const stopReloading = reloadOnHangup(running, settings, log, environment);
  const token = known.token ?? (settings.demo ? await ownToken(running, io) : undefined);
  const service = { ...environment, url: running.url, token, log };
  const demo = settings.demo
    ? (await import('./demo.ts')).runDemo(service, !settings.noPlayer)
    : undefined;
  if (!over.aborted) await once(over, 'abort');
  log.info({}, 'Stopping after the requests in flight. Interrupt again to stop at once.');
  stopReloading();
  await demo;
}

/** Warns of secrets on the command line, which other users of the machine can read. */
function warnOfVisibleSecrets(flags: Flags, log: LogSink): void {
  const warn = (message: string) => log.warn({}, message);
  warnOfPassword(flags.store, 'SIGNAGE_STORE or --store-file', warn);
  if (flags.metricsToken !== undefined)
    warn(visibleSecret('metrics token', 'SIGNAGE_METRICS_TOKEN or --metrics-token-file'));
}

/** `signage serve`: runs the service until SIGINT or SIGTERM, then shuts it down gracefully. */
export async function runService(call: CommandContext, given: ServeValues): Promise<number> {
  const { io, clock } = call;
  const settings = { ...given, store: await givenStore(given) };
  requireTokenPlace(settings, io);
  const log = await makeLogger({
    io,
    clock,
    level: settings.logLevel,
    format: settings.logFormat,
  });
  warnOfVisibleSecrets(call.flags, log);
  const failure = new AbortController();
  const onFailure = (reason: Error) => failure.abort(reason);
  const running = await startService(settings, log, call, onFailure);
  try {
    await runUntilInterrupted(running, settings, log, call, failure.signal);
  } finally {
    await running.close();
  }
  if (failure.signal.aborted)
    throw new SignageError('store_unusable', (failure.signal.reason as Error).message);
  log.info({}, 'Stopped.');
  return 0;
}
