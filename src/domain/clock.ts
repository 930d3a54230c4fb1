/** Where time comes from. Everything past the edge is handed one, so that tests need no sleeping. */
export interface Clock {
  /** Unix epoch milliseconds. */
  now(): number;
  /** Calls `wake` once, `delayMs` from now and not before; the returned function cancels. Never keeps the process alive. */
  after(delayMs: number, wake: () => void): () => void;
}

/** Where unguessable bytes come from: `length` of them, from a CSPRNG. */
export type Random = (length: number) => Uint8Array;

/** The platform's CSPRNG, at most 65,536 bytes at a time; `node:crypto`, which is the same, would have to be loaded for it. */
export const systemRandom: Random = (length) => crypto.getRandomValues(new Uint8Array(length));

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, wake) {
    // One millisecond more, for Node's timers may fire a fraction of one early.
    const timer = setTimeout(wake, delayMs + 1);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** ISO 8601 UTC with milliseconds, as every record time leaves the service (docs/protocol.md §1). */
export function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** As `iso`, with `null` for a time that has not come. */
export function isoOrNull(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : iso(timeMs);
}
