import { count, repeated } from '../options/option.ts';
import { list, oneOf, text, textOr, type Values, wholeNumber, yesNo } from '../options/settings.ts';
import { rotateEvery } from '../simulate/options.ts';
import { storeFileSetting, storeSetting } from './store-location.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** What `signage serve` can be told. Secrets come from files or the environment, for a command line is seen by everybody on the machine. */
export const serveSettings = {
  host: textOr('127.0.0.1', '--host <address>', 'SIGNAGE_HOST', 'address to listen on'),
  port: wholeNumber(
    [0, 65_535],
    4100,
    '--port <number>',
    'SIGNAGE_PORT',
    'port to listen on; 0 takes any that is free',
  ),
  data: textOr('./signage-data', '--data <folder>', 'SIGNAGE_DATA', 'folder of the data'),
  allowOpenData: yesNo(
    '--allow-open-data',
    'SIGNAGE_ALLOW_OPEN_DATA',
    'use data and secrets that others on this machine can change',
  ),
  store: storeSetting,
  storeFile: storeFileSetting,
  databasePoolSize: wholeNumber(
    [2, 200],
    10,
    '--database-pool-size <number>',
    'SIGNAGE_DATABASE_POOL_SIZE',
    'connections to the database',
  ),
  databaseStatementTimeout: wholeNumber(
    [1, 600],
    10,
    '--database-statement-timeout <seconds>',
    'SIGNAGE_DATABASE_STATEMENT_TIMEOUT',
    'the longest that one statement may take',
  ),
  databaseLockTimeout: wholeNumber(
    [1, 600],
    5,
    '--database-lock-timeout <seconds>',
    'SIGNAGE_DATABASE_LOCK_TIMEOUT',
    'the longest that one may wait for the change of another instance',
  ),
  codeTtlMinutes: wholeNumber(
    [1, 60],
    15,
    '--code-ttl-minutes <number>',
    'SIGNAGE_CODE_TTL_MINUTES',
    'how long pairing codes live',
  ),
  retentionDays: wholeNumber(
    [1, 36_500],
    90,
    '--retention-days <number>',
    'SIGNAGE_RETENTION_DAYS',
    'how long events are kept',
  ),
  authGraceSeconds: wholeNumber(
    [0, 86_400],
    0,
    '--auth-grace-seconds <number>',
    'SIGNAGE_AUTH_GRACE_SECONDS',
    'how long a verified TV gets playlist and config while the database is away',
  ),
  trustProxy: list(
    '--trust-proxy <address>',
    'SIGNAGE_TRUST_PROXY',
    'address or CIDR range of proxies whose X-Forwarded-For is believed',
  ),
  corsOrigin: list(
    '--cors-origin <origin>',
    'SIGNAGE_CORS_ORIGIN',
    'web origin that may call the service',
  ),
  tlsCert: text(
    '--tls-cert <file>',
    'SIGNAGE_TLS_CERT',
    'certificate for HTTPS (PEM); SIGHUP reads it again',
  ),
  tlsKey: text('--tls-key <file>', 'SIGNAGE_TLS_KEY', 'its private key (PEM)'),
  metricsToken: text(
    '--metrics-token <token>',
    'SIGNAGE_METRICS_TOKEN',
    'lets others than this machine read /metrics; other users of the machine can read it here, so use the variable or the file',
  ),
  metricsTokenFile: text(
    '--metrics-token-file <file>',
    'SIGNAGE_METRICS_TOKEN_FILE',
    'file that holds the metrics token',
  ),
  fault: repeated(
    '--fault <rule>',
    'misbehave on purpose, such as "GET /devices/*/playlist=500:10%": see docs/simulator.md',
  ),
  objectStore: text(
    '--object-store <url>',
    'SIGNAGE_OBJECT_STORE',
    'keeps copies of playlists: file:///folder, s3://bucket/prefix, or none; the folder mirror in the data unless said',
  ),
  onDemandUrl: text(
    '--on-demand-url <template>',
    'SIGNAGE_ON_DEMAND_URL',
    'asks there what a screen is to play, such as "https://ads.example/playlists/{screenId}": see docs/on-demand.md',
  ),
  onDemandTokenFile: text(
    '--on-demand-token-file <file>',
    'SIGNAGE_ON_DEMAND_TOKEN_FILE',
    'file that holds a bearer token for the on-demand URL; or set SIGNAGE_ON_DEMAND_TOKEN',
  ),
  onDemandTtlSeconds: wholeNumber(
    [0, 3600],
    10,
    '--on-demand-ttl-seconds <number>',
    'SIGNAGE_ON_DEMAND_TTL_SECONDS',
    'how long an on-demand answer is held',
  ),
  onDemandTimeoutMs: wholeNumber(
    [100, 10_000],
    2000,
    '--on-demand-timeout-ms <number>',
    'SIGNAGE_ON_DEMAND_TIMEOUT_MS',
    'how long a TV is kept waiting for an on-demand answer',
  ),
  onDemandConcurrency: wholeNumber(
    [1, 1000],
    20,
    '--on-demand-concurrency <number>',
    'SIGNAGE_ON_DEMAND_CONCURRENCY',
    'the most on-demand calls at a time',
  ),
  demo: yesNo(
    '--demo',
    'SIGNAGE_DEMO',
    'fill an empty store with a demonstration, and pair three simulated TVs',
  ),
  simulate: count(
    [1, 100_000],
    '--simulate <number>',
    'let so many simulated TVs live with it, in the venue Simulated',
  ),
  rotateEvery: rotateEvery(
    '--rotate-every <time>',
    'with --simulate: let each of those TVs change its key so often; never unless given',
  ),
  noContext: yesNo(
    '--no-context',
    'SIGNAGE_NO_CONTEXT',
    'do not save the context "local" for the commands of this machine',
  ),
  logLevel: oneOf(
    levels,
    'info',
    '--log-level <level>',
    'SIGNAGE_LOG_LEVEL',
    `how much is logged: ${levels.join(', ')}`,
  ),
  logFormat: oneOf(
    ['auto', 'pretty', 'json'],
    'auto',
    '--log-format <format>',
    'SIGNAGE_LOG_FORMAT',
    'pretty or json; auto is pretty on a terminal',
  ),
};

export type ServeValues = Values<typeof serveSettings>;
