import { SignageError } from '../domain/error.ts';
import { errorKind } from '../wire/errors.ts';

/** What the command line itself and the service's start may say, beside the codes of the interface. */
const ownCodes: Record<string, number> = {
  usage: 2,
  invalid_option: 2,
  port_taken: 5,
  store_locked: 5,
  unreachable: 7,
  wait_timed_out: 8,
  partly_failed: 9,
};

const byStatus: Record<number, number> = { 401: 4, 403: 4, 404: 3, 409: 5, 410: 5, 400: 6, 413: 6, 415: 6, 429: 7, 503: 7 };

/**
 * The exit code that stands for an error: 1 unexpected, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 invalid, 7 unreachable or overloaded,
 * 8 a wait that timed out, 9 partly failed. (130 and 143, interrupted, are the signals' own.)
 */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SignageError)) return 1;
  return ownCodes[error.code] ?? byStatus[errorKind(error.code).status] ?? 1;
}
