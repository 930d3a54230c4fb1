import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/cli/program/exit-code.ts';
import { type ErrorCode, SignageError } from '../../../src/domain/error.ts';
import { errorKinds } from '../../../src/wire/errors.ts';

it.each<[ErrorCode, number]>([
  ['internal_error', 1],
  ['config_fetch_failed', 1],
  ['usage', 2],
  ['invalid_option', 2],
  ['ambiguous_name', 2],
  ['context_not_found', 3],
  ['screen_not_found', 3],
  ['pairing_code_not_found', 3],
  ['credential_invalid', 4],
  ['token_of_elsewhere', 4],
  ['contexts_unusable', 4],
  ['insufficient_role', 4],
  ['device_key_revoked', 4],
  ['name_taken', 5],
  ['declined', 5],
  ['pairing_code_expired', 5],
  ['port_taken', 5],
  ['store_locked', 5],
  ['invalid_request', 6],
  ['invalid_file', 6],
  ['store_damaged', 6],
  ['store_unusable', 6],
  ['body_too_large', 6],
  ['unsupported_media_type', 6],
  ['playlist_fetch_failed', 7],
  ['unreachable', 7],
  ['proxy_refused', 7],
  ['unexpected_answer', 7],
  ['unavailable', 7],
  ['too_many_attempts', 7],
  ['wait_timed_out', 8],
  ['partly_failed', 9],
])('%s ends with %i', (code, exitCode) =>
  expect(exitCodeOf(new SignageError(code, ''))).toBe(exitCode),
);

it.each([[new TypeError('x')], ['a text'], [undefined]])(
  '1 for a value that is not a SignageError: %s',
  (error) => expect(exitCodeOf(error)).toBe(1),
);

it.each([
  [404, 3],
  [409, 5],
  [502, 7],
  [500, 1],
  [undefined, 1],
])('an unknown error code with HTTP status %s ends with %i', (status, exitCode) => {
  expect(
    exitCodeOf(
      new SignageError('odd_thing' as ErrorCode, '', status === undefined ? {} : { status }),
    ),
  ).toBe(exitCode);
  expect(
    exitCodeOf(
      new SignageError('constructor' as ErrorCode, '', status === undefined ? {} : { status }),
    ),
  ).toBe(exitCode);
});

it.each(Object.keys(errorKinds) as ErrorCode[])('%s has an exit code from 1 to 7', (code) => {
  expect(exitCodeOf(new SignageError(code, ''))).toBeGreaterThanOrEqual(1);
  expect(exitCodeOf(new SignageError(code, ''))).toBeLessThanOrEqual(7);
});
