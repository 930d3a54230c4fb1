import { SignageError } from '../domain/error.ts';

/** Makes the error for a store that cannot do its work right now. */
export function unavailable(message: string, cause?: unknown): SignageError {
  return new SignageError('unavailable', message, { cause, retryAfterSeconds: 5 });
}
