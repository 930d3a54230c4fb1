import { storeFileSetting, storeSetting } from '../../connection/store-location.ts';
import {
  flag,
  list,
  oneOf,
  repeated,
  text,
  textOr,
  wholeNumber,
  withVariables,
} from '../../input/option.ts';
import { usage, type Values } from '../../input/settings.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Throws `usage` for a URL, or an address with a port. */
function readHost(value: string, source: string): string {
  const [, host = '', port] = /^(?:https?:\/\/)?([^/:]+|\[.*\]):?(\d+)?\/?$/.exec(value) ?? [];
  if (host === '' || host === value) return value;
  const hint = `Did you mean --host ${host}${port === undefined ? '' : ` --port ${port}`}?`;
  throw usage(`${source} must be an address without scheme and port, not "${value}".`, hint);
}

/**
 * The settings of `signage serve`. Secrets come from files or the environment: other users of the
 * machine can read the command line.
 */
export const serveSettings = {
  ...withVariables({
    host: {
      ...textOr('127.0.0.1', '--host <address>', 'address to listen on'),
      read: readHost,
    },
    port: wholeNumber(
      [0, 65_535],
      4100,
      '--port <number>',
      'port to listen on; 0 takes any free port',
    ),
    publicUrl: text(
      '--public-url <url>',
      'address at which TVs and people reach the service, such as https://signage.example.com; default: as each request names it',
    ),
    data: textOr('./signage-data', '--data <folder>', 'data folder'),
    allowOpenData: flag(
      '--allow-open-data',
      'use data and secrets that other users of this machine can change',
    ),
    store: storeSetting,
    storeFile: storeFileSetting,
    databasePoolSize: wholeNumber(
      [2, 200],
      10,
      '--database-pool-size <number>',
      'connections to the database',
    ),
    databaseStatementTimeout: wholeNumber(
      [1, 600],
      10,
      '--database-statement-timeout <seconds>',
      'maximum duration of one SQL statement',
    ),
    databaseLockTimeout: wholeNumber(
      [1, 600],
      5,
      '--database-lock-timeout <seconds>',
      'maximum time that a statement waits for a lock of another instance',
    ),
    media: text(
      '--media <place>',
      'where uploaded files lie: a folder that all instances share, s3://bucket/prefix, or none; default: the folder media in the data folder',
    ),
    mediaLimit: wholeNumber([1, 65_536], 512, '--media-limit <MiB>', 'largest uploaded file'),
    mediaQuota: wholeNumber(
      [1, 16_777_216],
      10_240,
      '--media-quota <MiB>',
      'what the uploaded files of one tenant may take',
    ),
    playlistQuota: wholeNumber(
      [1, 1_048_576],
      256,
      '--playlist-quota <MiB>',
      'what the different playlists and schedules of one tenant may take',
    ),
    codeTtlMinutes: wholeNumber(
      [1, 60],
      15,
      '--code-ttl-minutes <number>',
      'lifetime of pairing codes',
    ),
    retentionDays: wholeNumber(
      [1, 36_500],
      90,
      '--retention-days <number>',
      'how long events are kept',
    ),
    authGraceSeconds: wholeNumber(
      [0, 86_400],
      0,
      '--auth-grace-seconds <number>',
      'how long a verified TV gets playlist and config while the database is unreachable',
    ),
    maxConnections: wholeNumber(
      [1, 200_000],
      20_000,
      '--max-connections <number>',
      'connections at a time; needs a higher limit of open files (ulimit -n)',
    ),
    keepAlive: wholeNumber(
      [1, 3_600],
      75,
      '--keep-alive <seconds>',
      'how long idle connections stay open; longer than in a load balancer in front',
    ),
    trustProxy: list(
      '--trust-proxy <address>',
      'address or CIDR range of a proxy whose X-Forwarded-For is trusted',
    ),
    webhookAllow: list(
      '--webhook-allow <address>',
      'address or CIDR range of your own network that webhooks may call, also by plain http',
    ),
    corsOrigin: list('--cors-origin <origin>', 'web origin that may call the service'),
    noCompression: flag(
      '--no-compression',
      'send lists, reports and the API reference uncompressed, such as behind a proxy that compresses',
    ),
    noPlayer: flag('--no-player', 'do not serve the web player at /player'),
    tlsCert: text('--tls-cert <file>', 'certificate for HTTPS (PEM); SIGHUP reloads it'),
    tlsKey: text('--tls-key <file>', 'its private key (PEM)'),
    metricsToken: text(
      '--metrics-token <token>',
      'token for /metrics from other machines; the command line is visible to other users, so use the variable or the file',
    ),
    metricsTokenFile: text('--metrics-token-file <file>', 'file with the metrics token'),
    statementKeyFile: text(
      '--statement-key-file <file>',
      'file with the key that signs statements of plays: see docs/statements.md',
    ),
  }),
  fault: repeated(
    '--fault <rule>',
    'misbehave on purpose, such as 500:playlist:10%; docs/faults.md lists the rules',
  ),
  ...withVariables({
    objectStore: text(
      '--object-store <url>',
      'where to copy playlists: file:///folder, s3://bucket/prefix, or none; default: the folder mirror in the data folder',
    ),
    onDemandUrl: text(
      '--on-demand-url <template>',
      'URL that returns the playlist of a screen, such as "https://ads.example/playlists/{screenId}": see docs/on-demand.md',
    ),
    onDemandTokenFile: text(
      '--on-demand-token-file <file>',
      'file with the bearer token for the on-demand URL; or set SIGNAGE_ON_DEMAND_TOKEN',
    ),
    onDemandTtlSeconds: wholeNumber(
      [0, 3600],
      10,
      '--on-demand-ttl-seconds <number>',
      'how long an on-demand playlist is cached',
    ),
    onDemandTimeoutMs: wholeNumber(
      [100, 10_000],
      2000,
      '--on-demand-timeout-ms <number>',
      'maximum time that a TV waits for an on-demand playlist',
    ),
    onDemandConcurrency: wholeNumber(
      [1, 1000],
      20,
      '--on-demand-concurrency <number>',
      'maximum number of concurrent on-demand requests',
    ),
    demo: flag('--demo', 'fill an empty store with demo data, and pair three simulated TVs'),
  }),
  newAdminToken: flag(
    '--new-admin-token',
    'create another platform token, for when all copies of the others are lost',
  ),
  ...withVariables({
    noContext: flag('--no-context', 'save no context for the commands of this machine'),
    logLevel: oneOf(
      levels,
      'info',
      '--log-level <level>',
      `lowest level to log: ${levels.join(', ')}`,
    ),
    logFormat: oneOf(
      ['auto', 'pretty', 'json'],
      'auto',
      '--log-format <format>',
      'pretty or json; auto is pretty on a terminal',
    ),
  }),
};

export type ServeValues = Values<typeof serveSettings>;
