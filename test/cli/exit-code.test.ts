import { expect, it } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-code.ts';
import { SignageError } from '../../src/domain/error.ts';
import { errorKinds } from '../../src/wire/errors.ts';

it.each([
  ['internal_error', 1],
  ['playlist_fetch_failed', 1],
  ['store_damaged', 1],
  ['unexpected_answer', 1],
  ['usage', 2],
  ['invalid_option', 2],
  ['screen_not_found', 3],
  ['pairing_code_not_found', 3],
  ['credential_invalid', 4],
  ['insufficient_role', 4],
  ['device_key_revoked', 4],
  ['name_taken', 5],
  ['pairing_code_expired', 5],
  ['port_taken', 5],
  ['store_locked', 5],
  ['invalid_request', 6],
  ['body_too_large', 6],
  ['unsupported_media_type', 6],
  ['unreachable', 7],
  ['unavailable', 7],
  ['too_many_attempts', 7],
  ['wait_timed_out', 8],
  ['partly_failed', 9],
])('%s ends with %i', (code, exitCode) => expect(exitCodeOf(new SignageError(code, ''))).toBe(exitCode));

it.each([[new TypeError('x')], ['a text'], [undefined]])('what is no error of ours (%s) ends with 1', (error) =>
  expect(exitCodeOf(error)).toBe(1),
);

it.each(Object.keys(errorKinds))('%s has an exit code from 1 to 7', (code) => {
  expect(exitCodeOf(new SignageError(code, ''))).toBeGreaterThanOrEqual(1);
  expect(exitCodeOf(new SignageError(code, ''))).toBeLessThanOrEqual(7);
});
