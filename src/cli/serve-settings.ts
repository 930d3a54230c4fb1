import { list, oneOf, text, textOr, type Values, wholeNumber, yesNo } from './settings.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** What `signage serve` can be told. Secrets come from files or the environment, for a command line is seen by everybody on the machine. */
export const serveSettings = {
  host: textOr('127.0.0.1', '--host <address>', 'SIGNAGE_HOST', 'address to listen on'),
  port: wholeNumber([0, 65_535], 4100, '--port <number>', 'SIGNAGE_PORT', 'port to listen on; 0 takes any that is free'),
  data: textOr('./signage-data', '--data <folder>', 'SIGNAGE_DATA', 'folder of the data'),
  store: oneOf(
    ['json', 'memory'],
    'json',
    '--store <kind>',
    'SIGNAGE_STORE',
    'json keeps the data in the folder; memory forgets it at the end',
  ),
  codeTtlMinutes: wholeNumber([1, 60], 15, '--code-ttl-minutes <number>', 'SIGNAGE_CODE_TTL_MINUTES', 'how long pairing codes live'),
  retentionDays: wholeNumber([1, 36_500], 90, '--retention-days <number>', 'SIGNAGE_RETENTION_DAYS', 'how long events are kept'),
  trustProxy: list('--trust-proxy <address>', 'SIGNAGE_TRUST_PROXY', 'proxy whose X-Forwarded-For is believed'),
  corsOrigin: list('--cors-origin <origin>', 'SIGNAGE_CORS_ORIGIN', 'web origin that may call the service'),
  tlsCert: text('--tls-cert <file>', 'SIGNAGE_TLS_CERT', 'certificate for HTTPS (PEM); SIGHUP reads it again'),
  tlsKey: text('--tls-key <file>', 'SIGNAGE_TLS_KEY', 'its private key (PEM)'),
  metricsToken: text(
    '--metrics-token <token>',
    'SIGNAGE_METRICS_TOKEN',
    'lets others than this machine read /metrics; better put into a file',
  ),
  metricsTokenFile: text('--metrics-token-file <file>', 'SIGNAGE_METRICS_TOKEN_FILE', 'file that holds the metrics token'),
  demo: yesNo('--demo', 'SIGNAGE_DEMO', 'fill an empty store with a demonstration, and pair three simulated TVs'),
  noContext: yesNo('--no-context', 'SIGNAGE_NO_CONTEXT', 'do not save the context "local" for the commands of this machine'),
  logLevel: oneOf(levels, 'info', '--log-level <level>', 'SIGNAGE_LOG_LEVEL', `how much is logged: ${levels.join(', ')}`),
  logFormat: oneOf(
    ['auto', 'pretty', 'json'],
    'auto',
    '--log-format <format>',
    'SIGNAGE_LOG_FORMAT',
    'pretty or json; auto is pretty on a terminal',
  ),
};

export type ServeValues = Values<typeof serveSettings>;
