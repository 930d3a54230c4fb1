import { rm } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { hasCode, SignageError } from '../../../domain/error.ts';
import type { LogSink } from '../../../domain/log.ts';
import { type Running, serve } from '../../../serve.ts';
import { readAwsSettings } from '../../connection/aws-settings.ts';
import { isLoopback } from '../../connection/loopback.ts';
import { checkSecretFiles, readSecretFile } from '../../connection/private-file.ts';
import { shownPlace, storePlace } from '../../connection/store-location.ts';
import { usage } from '../../input/settings.ts';
import type { Environment } from '../../terminal/environment.ts';
import type { Io } from '../../terminal/io.ts';
import { shellQuote } from '../../terminal/text.ts';
import { keepToken, requireTokenFile } from './admin-token.ts';
import type { ServeValues } from './options.ts';

/** Whether requests to the URL cross the network unencrypted. */
function isInClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}

/**
 * Returns the options for playlists on demand. The token comes from the file, else from the
 * environment.
 */
async function readOnDemand(settings: ServeValues, { env }: Io, log: LogSink) {
  const { onDemandUrl: url, onDemandTokenFile: tokenFile } = settings;
  const fromFile = tokenFile && (await readSecretFile(tokenFile, '--on-demand-token-file'));
  const onDemandToken = fromFile || (url && env.SIGNAGE_ON_DEMAND_TOKEN);
  if (url && onDemandToken && isInClear(url)) {
    log.warn(
      {},
      'The on-demand token crosses the network in clear text: use an on-demand URL with https.',
    );
  }
  return {
    onDemandTtlSeconds: settings.onDemandTtlSeconds,
    onDemandTimeoutMs: settings.onDemandTimeoutMs,
    onDemandConcurrency: settings.onDemandConcurrency,
    ...(url && { onDemand: url }),
    ...(onDemandToken && { onDemandToken }),
  };
}

/** Certificate and private key in PEM. */
interface TlsTexts {
  cert: string;
  key: string;
}

/**
 * Reads certificate and key, if configured. Throws `usage` if one is missing or invalid, or if they
 * do not match.
 */
export async function readTls(
  certFile: string | undefined,
  keyFile: string | undefined,
): Promise<TlsTexts | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw usage('--tls-cert and --tls-key need each other: give both, or neither.');
  const texts = {
    cert: await readSecretFile(certFile, '--tls-cert'),
    key: await readSecretFile(keyFile, '--tls-key'),
  };
  requireLoadable({ cert: texts.cert }, `${certFile} (--tls-cert) contains no usable certificate`);
  if (/ENCRYPTED/.test(texts.key))
    throw usage(
      `The key in ${keyFile} (--tls-key) is protected by a passphrase.`,
      `Store it without one: openssl pkey -in ${shellQuote(keyFile)} -out key.pem`,
    );
  requireLoadable({ key: texts.key }, `${keyFile} (--tls-key) contains no usable private key`);
  requireLoadable(
    texts,
    `The key in ${keyFile} does not belong to the certificate in ${certFile}`,
    'Name the key that the certificate was requested with.',
  );
  return texts;
}

/** Throws `usage` with this text if TLS cannot load a certificate, a key or both. */
function requireLoadable(
  texts: Partial<TlsTexts>,
  problem: string,
  hint = 'Name a file in PEM form, which begins with -----BEGIN.',
): void {
  try {
    createSecureContext(texts);
  } catch (error) {
    const { code } = error as { code?: string };
    throw usage(`${problem}${code === undefined ? '' : ` (${code})`}.`, hint);
  }
}

/** Reads the files that the settings name, and starts the service. */
export async function startService(
  settings: ServeValues,
  log: LogSink,
  { io, clock, random }: Environment,
  onFailure: (reason: Error) => void,
): Promise<Running> {
  const { host, metricsTokenFile, statementKeyFile } = settings;
  const secretFiles = [
    settings.storeFile,
    settings.tlsKey,
    metricsTokenFile,
    statementKeyFile,
    settings.onDemandTokenFile,
  ];
  await checkSecretFiles(secretFiles, settings.allowOpenData, log);
  const tls = await readTls(settings.tlsCert, settings.tlsKey);
  const metricsToken = metricsTokenFile
    ? await readSecretFile(metricsTokenFile, '--metrics-token-file')
    : settings.metricsToken;
  if (!tls && !isLoopback(host)) {
    log.warn(
      { host },
      'Without TLS, keys and tokens cross the network in clear text: use --tls-cert and --tls-key, or a proxy with HTTPS.',
    );
  }
  if (settings.newAdminToken) requireTokenFile(settings, io);
  let keptTokenFile: string | undefined;
  const running = serve({
    host,
    port: settings.port,
    mediaLimitMiB: settings.mediaLimit,
    mediaQuotaMiB: settings.mediaQuota,
    playlistQuotaMiB: settings.playlistQuota,
    codeTtlMinutes: settings.codeTtlMinutes,
    retentionDays: settings.retentionDays,
    authGraceSeconds: settings.authGraceSeconds,
    maxConnections: settings.maxConnections,
    keepAliveSeconds: settings.keepAlive,
    trustProxy: settings.trustProxy,
    webhookAllow: settings.webhookAllow,
    demo: settings.demo,
    clock,
    random,
    log,
    onFailure,
    store: storePlace(settings),
    allowOpenData: settings.allowOpenData,
    database: {
      poolSize: settings.databasePoolSize,
      statementTimeoutSeconds: settings.databaseStatementTimeout,
      lockTimeoutSeconds: settings.databaseLockTimeout,
    },
    // A new token is shown at the terminal or written to the data folder. A service with a database
    // has no data folder, so it needs a terminal.
    makesToken: settings.store === 'json' || io.stdout.isTTY,
    newAdminToken: settings.newAdminToken,
    keepToken: async (token) => {
      keptTokenFile = await keepToken(token, settings, io);
    },
    corsOrigins: settings.corsOrigin,
    compression: !settings.noCompression,
    player: !settings.noPlayer,
    faults: settings.fault?.length ? settings.fault : undefined,
    aws: readAwsSettings(io),
    ...(await readOnDemand(settings, io, log)),
    ...(settings.publicUrl && { publicUrl: settings.publicUrl }),
    ...(settings.media && { media: settings.media }),
    ...(settings.objectStore && { objectStore: settings.objectStore }),
    ...(tls && { tls }),
    ...(metricsToken && { metricsToken }),
    ...(statementKeyFile && { statementKeyFile }),
    ...(io.env.SIGNAGE_ADMIN_TOKEN && { adminToken: io.env.SIGNAGE_ADMIN_TOKEN }),
  });
  return running.catch(async (error: unknown) => {
    // A failed start leaves no token file behind.
    if (keptTokenFile !== undefined) await rm(keptTokenFile, { force: true });
    // Without `Retry-After`, which is for the clients of a running service.
    if (hasCode(error, 'unavailable'))
      throw new SignageError(
        'store_unreachable',
        `The service cannot start with its store, ${shownPlace(settings)}: ${error.message}`,
        { cause: error },
      );
    throw error;
  });
}
