import { keepProcessAlive } from './keep-alive.ts';
import type { FleetOptions } from './options.ts';
import type { FleetReport } from './report.ts';
import { FleetRun } from './run.ts';

/**
 * Lets a fleet of TVs live with a service: makes a venue, screens and codes for them (or takes given codes), lets each TV register, play and report
 * as a real one does, with whatever is to go wrong, and compares in the end what the service acknowledged with what it has stored. What it made it
 * takes away again, unless it is kept for the next run; it never touches anything else.
 *
 * Resolves with the report, in which failures of single TVs are counted. Throws when the run is not possible: `invalid_option`, `invalid_file`,
 * `credential_missing`, `insufficient_role`, `unreachable`, … Where time does not matter, `speed: Infinity` lets a week pass in a moment.
 *
 * @example
 * const weekMs = 7 * 24 * 3_600_000;
 * const { reconciliation } = await runFleet({ url, token, count: 10, speed: Infinity, lifeMs: weekMs, faults: ['lost-answer:events:5%'] });
 * assert.deepEqual(reconciliation.findings, []);
 */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const release = keepProcessAlive();
  try {
    return await new FleetRun(options).go();
  } finally {
    release();
  }
}
