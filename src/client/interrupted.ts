import { SignageError } from '../domain/error.ts';

/** Returns the error with which an aborted call rejects. */
export function interrupted(): SignageError {
  return new SignageError('interrupted', 'Interrupted before the service answered.');
}
