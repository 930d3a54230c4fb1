import { changesChecks } from './changes.ts';
import type { TvCheck } from './check.ts';
import { configChecks } from './config.ts';
import { credentialChecks } from './credentials.ts';
import { deviceTimeChecks } from './device-time-header.ts';
import { endingChecks } from './ending.ts';
import { eventChecks } from './events.ts';
import { networkChecks } from './network.ts';
import { playlistChecks } from './playlist.ts';
import { powerChecks } from './power.ts';
import { registrationChecks } from './registration.ts';
import { retryChecks, wireChecks } from './retries.ts';
import { rotationChecks } from './rotation.ts';
import { sequenceChecks } from './sequence.ts';
import { upcomingChecks } from './upcoming.ts';

/** All checks, in the order of the report. */
export const allTvChecks: readonly TvCheck[] = [
  ...registrationChecks,
  ...configChecks,
  ...playlistChecks,
  ...eventChecks,
  ...sequenceChecks,
  ...deviceTimeChecks,
  ...retryChecks,
  ...credentialChecks,
  ...endingChecks,
  ...networkChecks,
  ...upcomingChecks,
  ...changesChecks,
  ...rotationChecks,
  ...powerChecks,
  ...wireChecks,
];
