import { type Clock, secondMs } from '../../domain/clock.ts';

/**
 * Returns a function that returns the `Date` header (RFC 9110 §6.6.1): the time by which the
 * service decides, which TVs go by. Formatted once a second.
 */
export function makeDateHeader(clock: Pick<Clock, 'now'>): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const current = Math.floor(clock.now() / secondMs);
    if (current === second) return text;
    second = current;
    text = new Date(current * secondMs).toUTCString();
    return text;
  };
}
