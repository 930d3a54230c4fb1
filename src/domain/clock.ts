/** Source of time. Code takes it as a parameter, so that tests can use a test clock. */
export interface Clock {
  /** Unix epoch milliseconds. */
  now(): number;
  /**
   * Calls `wake` once, after at least `delayMs`. Returns a function that cancels it. Never keeps
   * the process alive.
   */
  after(delayMs: number, wake: () => void): () => void;
}

/** Returns `length` bytes, from a CSPRNG or from a deterministic source such as `derivedRandom`. */
export type Random = (length: number) => Uint8Array;

/**
 * The platform's CSPRNG, for at most 65,536 bytes at a time. `node:crypto` offers the same
 * generator, but takes time to load.
 */
export const systemRandom: Random = (length) => crypto.getRandomValues(new Uint8Array(length));

/** Returns random bytes in hex, two digits for each byte. */
export const randomHex = (random: Random, length: number): string =>
  Array.from(random(length), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Timers are limited to 2^31 milliseconds. Longer delays consist of several timers. */
const longestTimerMs = 2 ** 30;

function after(delayMs: number, wake: () => void): () => void {
  const restMs = delayMs - longestTimerMs;
  const step = () => {
    cancel = after(restMs, wake);
  };
  // Adds one millisecond, because Node's timers may fire a fraction of a millisecond early.
  const timer = restMs > 0 ? setTimeout(step, longestTimerMs) : setTimeout(wake, delayMs + 1);
  // In browsers, a timer is a number without `unref`.
  timer.unref?.();
  let cancel = () => clearTimeout(timer);
  return () => cancel();
}

export const systemClock: Clock = { now: () => Date.now(), after };

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** How far ahead something may have begun: clocks are set back a little now and then. */
const setBackMs = minuteMs;

/** Returns whether something has begun. What seems to begin later was made by a fast clock. */
export const hasBegun = (nowMs: number, beginMs: number): boolean => beginMs <= nowMs + setBackMs;

/** Returns whether `nowMs` lies between a beginning and an end. */
export const isBetween = (nowMs: number, beginMs: number, endMs: number): boolean =>
  hasBegun(nowMs, beginMs) && nowMs < endMs;

/**
 * Returns a time in ISO 8601 UTC with milliseconds, the format of all record times
 * (docs/protocol.md §1).
 */
export function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** As `iso`, but returns `null` for a missing time. */
export function isoOrNull(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : iso(timeMs);
}

const isoForm = /^(\d{4}-\d{2}-(\d{2}))(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;

/**
 * Parses an ISO 8601 time with a zone to milliseconds. A date without a time is its UTC midnight.
 * Returns `NaN` for other text.
 */
export function isoMs(text: string): number {
  const [, day = '', dayOfMonth] = isoForm.exec(text) ?? [];
  // `Date` would convert 30 February to 2 March.
  return new Date(day).getUTCDate() === Number(dayOfMonth) ? Date.parse(text) : Number.NaN;
}
