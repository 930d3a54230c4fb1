import { connectionOptions } from './common-options.ts';
import { oneOf, textOr, wholeNumber } from './settings.ts';

const ownSettings = {
  count: wholeNumber([1, 100_000], 10, '--count <number>', undefined, 'how many TVs'),
  venue: textOr('Simulated', '--venue <name>', undefined, 'venue of the TVs; made if need be'),
  concurrency: wholeNumber([1, 1000], 8, '--concurrency <number>', undefined, 'how many TVs are busy at a time'),
  batches: wholeNumber([1, 1000], 3, '--batches <number>', undefined, 'how many batches of 10 events each TV posts'),
  output: oneOf(['text', 'json'], 'text', '-o, --output <format>', undefined, 'text or json'),
};

/** What `signage simulate` can be told: the service as all commands are told of it, and the fleet. */
export const simulateSettings = { ...ownSettings, ...connectionOptions };
