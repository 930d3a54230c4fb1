import type { SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import type { Texts } from '../texts/english.ts';
import { fill, type Phrase, textFor } from '../texts/phrase.ts';

/** Returns a text that tells people why the TV needs a code. `code` is the rejected code. */
export function explainRequest(
  why: UnpairedReason,
  error: SignageError | undefined,
  code: string,
): Phrase {
  if (why !== 'refused' || !error) return (texts) => texts[why];
  return (texts) => fill(textFor(texts, error.code) ?? error.message, { code });
}

/**
 * Returns a text that tells people why a registration has not succeeded yet. The player retries
 * automatically.
 */
export const explainDelay =
  ({ code, message }: SignageError): Phrase =>
  (texts) =>
    textFor(texts, code) ?? message;

/**
 * Returns a text that tells people why this TV shows no claim. The text is empty if the service has
 * no claims, or the page does not need a claim any more.
 */
export function explainNoClaim(failure: SignageError): Phrase {
  const isExpected = failure.code === 'not_supported' || failure.code === 'interrupted';
  if (isExpected) return () => '';
  return (texts) => fill(texts.noClaim, { reason: explainDelay(failure)(texts) });
}

/** Formats a duration for people: `45 seconds`, `3:05 minutes`. */
export function formatSeconds({ second, seconds, minutes }: Texts, n: number): string {
  if (n === 1) return second;
  if (n < 60) return fill(seconds, { n });
  return fill(minutes, { time: `${Math.floor(n / 60)}:${String(n % 60).padStart(2, '0')}` });
}

/** Returns the lines about this TV below the keypad. */
export const pairingNotes = (serviceUrl: string, isSecure: boolean): Phrase[] => [
  ({ getCode }) => fill(getCode, { command: `signage pair Venue/Screen --url ${serviceUrl}` }),
  ...(isSecure ? [] : [({ needsNetwork }: Texts) => needsNetwork]),
];
