import type { SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../player/observer.ts';

const reasons: Record<UnpairedReason, string> = {
  new: 'Type the pairing code of the screen.',
  revoked: 'This TV was removed from its screen. Type a new pairing code.',
  orphaned: 'The screen of this TV does not exist any more. Type a new pairing code.',
  invalid: 'The service does not know the key of this TV. Type a new pairing code.',
  refused: 'Type another pairing code.',
};

const refusals: Record<string, string> = {
  pairing_code_not_found: 'There is no code CODE. Check it, and type it again.',
  pairing_code_used: 'The code CODE was used already. Ask for a new one.',
  pairing_code_expired: 'The code CODE has expired. Ask for a new one.',
  pairing_code_cancelled: 'The code CODE was cancelled. Ask for a new one.',
  invalid_request: 'The service did not accept CODE. Check it, and type it again.',
};

const delays: Record<string, string> = {
  too_many_attempts: 'Too many wrong codes came from this network.',
  unreachable: 'The service cannot be reached.',
  unavailable: 'The service is busy.',
};

/** Returns a text that tells people why the TV needs a code. `code` is the rejected code. */
export function explainRequest(
  why: UnpairedReason,
  error: SignageError | undefined,
  code: string,
): string {
  if (why !== 'refused' || !error) return reasons[why];
  return (refusals[error.code] ?? error.message).replace('CODE', code);
}

/**
 * Returns a text that tells people why a registration has not succeeded yet. The player retries
 * automatically.
 */
export function explainDelay({ code, message }: SignageError): string {
  return delays[code] ?? message;
}

/**
 * Returns a text that tells people why this TV shows no claim. The text is empty if the service has
 * no claims, or the page does not need a claim any more.
 */
export function explainNoClaim({ code, message }: SignageError): string {
  const isExpected = code === 'not_supported' || code === 'interrupted';
  return isExpected ? '' : `This TV cannot be paired from a computer: ${message}`;
}

/** Formats a duration for people: `45 seconds`, `3:05 minutes`. */
export function formatSeconds(seconds: number): string {
  if (seconds === 1) return '1 second';
  if (seconds < 60) return `${seconds} seconds`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} minutes`;
}
