import { readFileSync } from 'node:fs';
import { hourMs } from '../../src/domain/clock.ts';
import { runFleet } from '../../src/simulator/fleet/fleet.ts';
import type { FleetOptions } from '../../src/simulator/fleet/options.ts';

const playlist = JSON.parse(
  readFileSync(new URL('../../fixtures/playlists/five-minutes.json', import.meta.url), 'utf8'),
);

/**
 * Items of five minutes, a heartbeat each quarter of an hour, a look at playlist and config each
 * hour.
 */
export const calm = { playlist, config: { syncIntervalMinutes: 60, heartbeatIntervalMinutes: 15 } };

/**
 * A fleet of 3 TVs that live for 6 hours and wait for nothing but answers, unless said otherwise.
 */
export function quickFleet(options: Partial<FleetOptions> & Pick<FleetOptions, 'url'>) {
  return runFleet({
    count: 3,
    speed: Number.POSITIVE_INFINITY,
    lifeMs: 6 * hourMs,
    seed: 'test',
    ...calm,
    ...options,
  });
}
