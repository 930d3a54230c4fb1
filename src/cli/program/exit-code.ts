import { SignageError } from '../../domain/error.ts';
import { errorKinds } from '../../wire/errors.ts';

/** Exit code of a command that found differences, damage or failures. */
export const failedExitCode = 9;

/**
 * Error codes whose exit code does not follow from the status of a response. Most are errors of the
 * command line or of the start of the service.
 */
const ownCodes: Readonly<Record<string, number>> = {
  usage: 2,
  invalid_option: 2,
  ambiguous_name: 2,
  context_not_found: 3,
  token_of_elsewhere: 4,
  state_of_elsewhere: 4,
  contexts_unusable: 4,
  open_to_others: 4,
  declined: 5,
  port_taken: 5,
  store_locked: 5,
  folder_not_empty: 5,
  store_not_empty: 5,
  restore_unfinished: 5,
  state_in_use: 5,
  invalid_file: 6,
  backup_unusable: 6,
  store_damaged: 6,
  store_other_format: 6,
  store_unusable: 6,
  store_unreachable: 7,
  unreachable: 7,
  proxy_refused: 7,
  unexpected_answer: 7,
  playlist_fetch_failed: 7,
  wait_timed_out: 8,
  partly_failed: 9,
  copy_differs: 9,
};

const byStatus: Readonly<Record<number, number>> = {
  401: 4,
  403: 4,
  404: 3,
  409: 5,
  410: 5,
  400: 6,
  408: 7,
  412: 5,
  413: 6,
  415: 6,
  429: 7,
  431: 6,
  501: 6,
  502: 7,
  503: 7,
  504: 7,
};

/**
 * Returns the exit code for an error. The HTTP status decides for an error code that is not in
 * `ownCodes`. `signals.ts` defines the exit codes of signals.
 * - 1: unexpected.
 * - 2: usage.
 * - 3: not found.
 * - 4: not allowed.
 * - 5: conflict.
 * - 6: invalid.
 * - 7: unreachable or overloaded.
 * - 8: timed out.
 * - 9: different or partly failed.
 */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SignageError)) return 1;
  const { code, status } = error;
  if (Object.hasOwn(ownCodes, code)) return ownCodes[code] ?? 1;
  const known = Object.hasOwn(errorKinds, code)
    ? errorKinds[code as keyof typeof errorKinds].status
    : status;
  return (known !== undefined && byStatus[known]) || 1;
}

/**
 * Exit codes of errors that would repeat for every further record: unexpected, not allowed,
 * unreachable.
 */
const fatalExitCodes = [1, 4, 7];

/** Whether a command for several records must stop at this error. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof SignageError) || error.code === 'interrupted') return true;
  if (error.code === 'playlist_fetch_failed') return false;
  return fatalExitCodes.includes(exitCodeOf(error));
}
