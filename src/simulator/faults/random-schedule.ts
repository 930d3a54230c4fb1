import type { Clock } from '../../domain/clock.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import type { Pace } from './fault.ts';

/**
 * Yields the delays between occurrences: one random time in each interval, or a Poisson process.
 */
function* delays(pace: Pace, random: SeededRandom): Generator<number> {
  if ('times' in pace) for (;;) yield (-Math.log(1 - random.fraction()) * pace.inMs) / pace.times;
  const { everyMs } = pace;
  for (let restMs = 0; ; ) {
    const offsetMs = random.between(0, everyMs);
    yield restMs + offsetMs;
    restMs = everyMs - offsetMs;
  }
}

/** Calls `onTick` at this pace. Returns a function that stops it. */
export function startRandomSchedule(
  clock: Clock,
  random: SeededRandom,
  pace: Pace,
  onTick: () => void,
): () => void {
  const times = delays(pace, random);
  let cancel = () => {};
  const wait = () => {
    cancel = clock.after(times.next().value, () => {
      wait();
      onTick();
    });
  };
  wait();
  return () => cancel();
}
