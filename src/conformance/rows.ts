import type { Check } from './row.ts';
import { codeRows } from './rows/codes.ts';
import { configRows } from './rows/config.ts';
import { credentialRows } from './rows/credentials.ts';
import { deviceKeyRows } from './rows/device-keys.ts';
import { eventRows } from './rows/events.ts';
import { guessingRows } from './rows/guessing.ts';
import { listRows } from './rows/lists.ts';
import { playlistRows } from './rows/playlist.ts';
import { publishingRows } from './rows/publishing.ts';
import { readingRows } from './rows/reading.ts';
import { registrationRows } from './rows/registration.ts';
import { registrationFailureRows } from './rows/registration-failures.ts';
import { revokeRows } from './rows/revoke.ts';
import { rotationRows } from './rows/rotation.ts';
import { screenRows } from './rows/screens.ts';
import { tenancyRows } from './rows/tenancy.ts';
import { venueRows } from './rows/venues.ts';
import { waitingRows } from './rows/waiting.ts';
import { wireRows } from './rows/wire.ts';

/** Every row, in the order of a run: what a TV does first, what locks this address out last. */
export const allChecks: readonly Check[] = [
  ...registrationRows,
  ...registrationFailureRows,
  ...deviceKeyRows,
  ...playlistRows,
  ...publishingRows,
  ...configRows,
  ...eventRows,
  ...rotationRows,
  ...codeRows,
  ...revokeRows,
  ...wireRows,
  ...credentialRows,
  ...tenancyRows,
  ...venueRows,
  ...screenRows,
  ...listRows,
  ...readingRows,
  ...waitingRows,
  ...guessingRows,
];
