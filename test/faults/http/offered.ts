/** Result of requests that were sent at a fixed rate. */
export interface Offered {
  perSecond: number;
  /** Answers 202 within one second, a client's patience. */
  goodput: number;
  /** Answers by status, and errors. `late`: 202 that came too late. */
  counts: Record<string, number>;
  /** Distinct values of `Retry-After`. */
  waits: Set<string>;
  /** Latencies of the answers in time. */
  goodMs: number[];
}

/** Returns the violations of a service under several times its capacity. */
export function checkOverload(rounds: readonly Offered[], capacity: number): string[] {
  const peak = Math.max(...rounds.map(({ goodput }) => goodput));
  return rounds.flatMap(({ perSecond, goodput, counts, waits }) => {
    const times = `${(perSecond / capacity).toFixed(0)}×`;
    const found: string[] = [];
    if (goodput < 0.8 * Math.min(peak, perSecond))
      found.push(`${times}: goodput ${goodput.toFixed(0)} of ${peak.toFixed(0)} a second`);
    const odd = Object.keys(counts).filter((outcome) => !['202', '503', 'late'].includes(outcome));
    if (odd.length > 0)
      found.push(`${times}: ${odd.map((outcome) => `${counts[outcome]} ${outcome}`).join(', ')}`);
    const late = counts.late ?? 0;
    if (late > 0.2 * (counts['202'] ?? 0))
      found.push(`${times}: ${late} answers that came too late`);
    if (perSecond < 5 * capacity) return found;
    if (!counts['503']) found.push(`${times}: nobody was turned away`);
    else if (waits.has('none')) found.push(`${times}: turned away without a Retry-After`);
    else if (waits.size < 5)
      found.push(`${times}: all told to come back at once, after ${[...waits].join(', ')} s`);
    return found;
  });
}
