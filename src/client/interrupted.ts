import { SignageError } from '../domain/error.ts';

/** What a call ends with when its `signal` aborts. */
export function interrupted(): SignageError {
  return new SignageError('interrupted', 'Interrupted before the service answered.');
}
