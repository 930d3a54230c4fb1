import type { Clock } from '../../domain/clock.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import type { Pace } from './fault.ts';

/** When something is next: `every` span once at a random place of it, or so often on average, with no memory of the last time. */
function* delays(pace: Pace, chance: SeededRandom): Generator<number> {
  if ('times' in pace) for (;;) yield (-Math.log(1 - chance.fraction()) * pace.inMs) / pace.times;
  const { everyMs } = pace;
  for (let restMs = 0; ; ) {
    const placeMs = chance.between(0, everyMs);
    yield restMs + placeMs;
    restMs = everyMs - placeMs;
  }
}

/** Calls `beat` at this pace until it is stopped. */
export function startRandomSchedule(
  clock: Clock,
  chance: SeededRandom,
  pace: Pace,
  beat: () => void,
): () => void {
  const times = delays(pace, chance);
  let cancel = () => {};
  const wait = () => {
    cancel = clock.after(times.next().value, () => {
      wait();
      beat();
    });
  };
  wait();
  return () => cancel();
}
