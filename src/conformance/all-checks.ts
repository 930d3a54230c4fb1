import { changesChecks } from './checks/changes.ts';
import { codeChecks } from './checks/codes.ts';
import { configChecks } from './checks/config.ts';
import { credentialChecks } from './checks/credentials.ts';
import { deviceKeyChecks, rotationChecks } from './checks/device-keys.ts';
import { eventChecks } from './checks/events.ts';
import { listChecks } from './checks/lists.ts';
import { playlistChecks } from './checks/playlist.ts';
import { bulkChecks, publishingChecks } from './checks/publishing.ts';
import { readingChecks } from './checks/reading.ts';
import { registrationChecks } from './checks/registration.ts';
import { guessingChecks, registrationFailureChecks } from './checks/registration-failures.ts';
import { revokeChecks } from './checks/revoke.ts';
import { creationChecks, revisionChecks } from './checks/safe-changes.ts';
import { conditionChecks, screenChecks, statusChecks } from './checks/screens.ts';
import { tenancyChecks } from './checks/tenancy.ts';
import { tokenChecks } from './checks/tokens.ts';
import { venueChecks } from './checks/venues.ts';
import { waitingChecks } from './checks/waiting.ts';
import { wireChecks } from './checks/wire.ts';
import { claimChecks } from './claim-checks.ts';
import type { ConformanceCheck } from './fixture/check.ts';
import { mediaChecks } from './media-checks.ts';
import { noticeChecks } from './notice-checks.ts';
import { reportChecks } from './report-checks.ts';
import { scheduleChecks } from './schedule-checks.ts';
import { signalChecks } from './signal-checks.ts';
import { webhookChecks } from './webhook-checks.ts';

/**
 * All checks in the order of a run. The order begins with the requests that a TV sends first, and
 * ends with the checks that lock out the caller's address.
 */
export const allChecks: readonly ConformanceCheck[] = [
  ...registrationChecks,
  ...registrationFailureChecks,
  ...deviceKeyChecks,
  ...playlistChecks,
  ...publishingChecks,
  ...bulkChecks,
  ...mediaChecks,
  ...scheduleChecks,
  ...configChecks,
  ...changesChecks,
  ...signalChecks,
  ...eventChecks,
  ...rotationChecks,
  ...codeChecks,
  ...claimChecks,
  ...revokeChecks,
  ...wireChecks,
  ...credentialChecks,
  ...tokenChecks,
  ...tenancyChecks,
  ...venueChecks,
  ...screenChecks,
  ...statusChecks,
  ...conditionChecks,
  ...revisionChecks,
  ...creationChecks,
  ...listChecks,
  ...readingChecks,
  ...reportChecks,
  ...waitingChecks,
  ...noticeChecks,
  ...webhookChecks,
  ...guessingChecks,
];
