import {
  count,
  flag,
  list,
  oneOf,
  repeated,
  text,
  textOr,
  wholeNumber,
  withVariable,
} from '../options/option.ts';
import type { Values } from '../options/settings.ts';
import { rotateEvery } from '../simulate/options.ts';
import { storeFileSetting, storeSetting } from './store-location.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/**
 * The settings of `signage serve`. Secrets come from files or the environment: other users of the
 * machine can read the command line.
 */
export const serveSettings = {
  host: withVariable(
    'SIGNAGE_HOST',
    textOr('127.0.0.1', '--host <address>', 'address to listen on'),
  ),
  port: withVariable(
    'SIGNAGE_PORT',
    wholeNumber([0, 65_535], 4100, '--port <number>', 'port to listen on; 0 takes any free port'),
  ),
  data: withVariable('SIGNAGE_DATA', textOr('./signage-data', '--data <folder>', 'data folder')),
  allowOpenData: withVariable(
    'SIGNAGE_ALLOW_OPEN_DATA',
    flag('--allow-open-data', 'use data and secrets that other users of this machine can change'),
  ),
  store: storeSetting,
  storeFile: storeFileSetting,
  databasePoolSize: withVariable(
    'SIGNAGE_DATABASE_POOL_SIZE',
    wholeNumber([2, 200], 10, '--database-pool-size <number>', 'connections to the database'),
  ),
  databaseStatementTimeout: withVariable(
    'SIGNAGE_DATABASE_STATEMENT_TIMEOUT',
    wholeNumber(
      [1, 600],
      10,
      '--database-statement-timeout <seconds>',
      'maximum duration of one SQL statement',
    ),
  ),
  databaseLockTimeout: withVariable(
    'SIGNAGE_DATABASE_LOCK_TIMEOUT',
    wholeNumber(
      [1, 600],
      5,
      '--database-lock-timeout <seconds>',
      'maximum time that a statement waits for a lock of another instance',
    ),
  ),
  codeTtlMinutes: withVariable(
    'SIGNAGE_CODE_TTL_MINUTES',
    wholeNumber([1, 60], 15, '--code-ttl-minutes <number>', 'lifetime of pairing codes'),
  ),
  retentionDays: withVariable(
    'SIGNAGE_RETENTION_DAYS',
    wholeNumber([1, 36_500], 90, '--retention-days <number>', 'how long events are kept'),
  ),
  authGraceSeconds: withVariable(
    'SIGNAGE_AUTH_GRACE_SECONDS',
    wholeNumber(
      [0, 86_400],
      0,
      '--auth-grace-seconds <number>',
      'how long a verified TV gets playlist and config while the database is unreachable',
    ),
  ),
  trustProxy: withVariable(
    'SIGNAGE_TRUST_PROXY',
    list(
      '--trust-proxy <address>',
      'address or CIDR range of a proxy whose X-Forwarded-For is trusted',
    ),
  ),
  corsOrigin: withVariable(
    'SIGNAGE_CORS_ORIGIN',
    list('--cors-origin <origin>', 'web origin that may call the service'),
  ),
  tlsCert: withVariable(
    'SIGNAGE_TLS_CERT',
    text('--tls-cert <file>', 'certificate for HTTPS (PEM); SIGHUP reloads it'),
  ),
  tlsKey: withVariable('SIGNAGE_TLS_KEY', text('--tls-key <file>', 'its private key (PEM)')),
  metricsToken: withVariable(
    'SIGNAGE_METRICS_TOKEN',
    text(
      '--metrics-token <token>',
      'token for /metrics from other machines; the command line is visible to other users, so use the variable or the file',
    ),
  ),
  metricsTokenFile: withVariable(
    'SIGNAGE_METRICS_TOKEN_FILE',
    text('--metrics-token-file <file>', 'file with the metrics token'),
  ),
  fault: repeated(
    '--fault <rule>',
    'misbehave on purpose, such as "GET /devices/*/playlist=500:10%": see docs/faults.md',
  ),
  objectStore: withVariable(
    'SIGNAGE_OBJECT_STORE',
    text(
      '--object-store <url>',
      'where to copy playlists: file:///folder, s3://bucket/prefix, or none; default: the folder mirror in the data folder',
    ),
  ),
  onDemandUrl: withVariable(
    'SIGNAGE_ON_DEMAND_URL',
    text(
      '--on-demand-url <template>',
      'URL that returns the playlist of a screen, such as "https://ads.example/playlists/{screenId}": see docs/on-demand.md',
    ),
  ),
  onDemandTokenFile: withVariable(
    'SIGNAGE_ON_DEMAND_TOKEN_FILE',
    text(
      '--on-demand-token-file <file>',
      'file with the bearer token for the on-demand URL; or set SIGNAGE_ON_DEMAND_TOKEN',
    ),
  ),
  onDemandTtlSeconds: withVariable(
    'SIGNAGE_ON_DEMAND_TTL_SECONDS',
    wholeNumber(
      [0, 3600],
      10,
      '--on-demand-ttl-seconds <number>',
      'how long an on-demand playlist is cached',
    ),
  ),
  onDemandTimeoutMs: withVariable(
    'SIGNAGE_ON_DEMAND_TIMEOUT_MS',
    wholeNumber(
      [100, 10_000],
      2000,
      '--on-demand-timeout-ms <number>',
      'maximum time that a TV waits for an on-demand playlist',
    ),
  ),
  onDemandConcurrency: withVariable(
    'SIGNAGE_ON_DEMAND_CONCURRENCY',
    wholeNumber(
      [1, 1000],
      20,
      '--on-demand-concurrency <number>',
      'maximum number of concurrent on-demand requests',
    ),
  ),
  demo: withVariable(
    'SIGNAGE_DEMO',
    flag('--demo', 'fill an empty store with demo data, and pair three simulated TVs'),
  ),
  simulate: count(
    [1, 100_000],
    '--simulate <number>',
    'number of simulated TVs to run beside the service, in the venue Simulated',
  ),
  rotateEvery: rotateEvery(
    '--rotate-every <time>',
    'with --simulate: how often each of those TVs rotates its key; default: never',
  ),
  noContext: withVariable(
    'SIGNAGE_NO_CONTEXT',
    flag('--no-context', 'do not save the context "local" for the commands of this machine'),
  ),
  logLevel: withVariable(
    'SIGNAGE_LOG_LEVEL',
    oneOf(levels, 'info', '--log-level <level>', `lowest level to log: ${levels.join(', ')}`),
  ),
  logFormat: withVariable(
    'SIGNAGE_LOG_FORMAT',
    oneOf(
      ['auto', 'pretty', 'json'],
      'auto',
      '--log-format <format>',
      'pretty or json; auto is pretty on a terminal',
    ),
  ),
};

export type ServeValues = Values<typeof serveSettings>;
