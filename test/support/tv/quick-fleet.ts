import { readFileSync } from 'node:fs';
import { hourMs } from '../../../src/domain/clock.ts';
import { runFleet } from '../../../src/simulator/fleet/fleet.ts';
import type { FleetOptions } from '../../../src/simulator/fleet/options.ts';

const playlist = JSON.parse(
  readFileSync(new URL('../../../fixtures/playlists/five-minutes.json', import.meta.url), 'utf8'),
);

/** Items of 5 minutes, a heartbeat every 15 minutes, and a sync every hour. */
export const slowPace = {
  playlist,
  config: { syncIntervalMinutes: 60, heartbeatIntervalMinutes: 15 },
};

/** Runs a fleet at unlimited speed. Default: 3 TVs for 6 hours. */
export function quickFleet(options: Partial<FleetOptions> & Pick<FleetOptions, 'url'>) {
  return runFleet({
    count: 3,
    speed: Number.POSITIVE_INFINITY,
    lifeMs: 6 * hourMs,
    seed: 'test',
    ...slowPace,
    ...options,
  });
}
