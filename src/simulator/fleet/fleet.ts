import { keepProcessAlive } from '../../client/pause.ts';
import type { FleetOptions } from './options.ts';
import type { FleetReport } from './report.ts';
import { FleetRun } from './run.ts';

/**
 * Runs a fleet of simulated TVs against a service, with the given faults. Each TV registers, plays
 * and reports as a real one does. At the end the run compares what the service acknowledged with
 * what it stored.
 *
 * Creates a venue, screens and pairing codes, unless `codes` are given. At the end it deletes
 * everything it created, unless `keep` is given. It never changes anything else.
 *
 * Resolves with the report, which counts the failures of single TVs. Rejects if the run is
 * impossible: `invalid_option`, `invalid_file`, `credential_missing`, `insufficient_role`,
 * `unreachable` and other codes of the service.
 *
 * With `speed: Infinity` the TVs never wait for the clock, so a simulated week takes only as long
 * as its requests.
 *
 * @example
 * const weekMs = 7 * 24 * 3_600_000;
 * const { reconciliation } = await runFleet({
 *   url,
 *   token,
 *   count: 10,
 *   speed: Infinity,
 *   lifeMs: weekMs,
 *   faults: ['lost-answer:events:5%'],
 * });
 * assert.deepEqual(reconciliation.findings, []);
 */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const release = keepProcessAlive();
  try {
    return await new FleetRun(options).run();
  } finally {
    release();
  }
}
