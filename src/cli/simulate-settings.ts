import { oneOf, text, textOr, wholeNumber } from './settings.ts';

/** What `signage simulate` can be told. */
export const simulateSettings = {
  count: wholeNumber([1, 100_000], 10, '--count <number>', undefined, 'how many TVs'),
  url: textOr('http://127.0.0.1:4100', '--url <url>', 'SIGNAGE_URL', 'where the service is'),
  venue: textOr('Simulated', '--venue <name>', undefined, 'venue of the TVs; made if need be'),
  concurrency: wholeNumber([1, 1000], 8, '--concurrency <number>', undefined, 'how many TVs are busy at a time'),
  batches: wholeNumber([1, 1000], 3, '--batches <number>', undefined, 'how many batches of 10 events each TV posts'),
  tokenFile: text('--token-file <file>', 'SIGNAGE_TOKEN_FILE', 'file that holds the management token; else SIGNAGE_TOKEN does'),
  tenant: text('--tenant <id>', 'SIGNAGE_TENANT', 'tenant to act in, where a platform token has several'),
  output: oneOf(['text', 'json'], 'text', '-o, --output <format>', undefined, 'text or json'),
};
