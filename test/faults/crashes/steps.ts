import { crc32 } from 'node:zlib';

/** What a life does, one after another. */
export type Step =
  | 'change'
  /** Larger than a segment of the journal. */
  | 'large change'
  | 'group'
  | 'batch'
  | 'batches'
  | 'minute'
  | 'busy minute'
  | 'day'
  | 'drop'
  | 'backup'
  | 'stop'
  | 'kill'
  | 'kill busy';

const days: readonly (readonly Step[])[] = [
  [
    'change',
    'batch',
    'group',
    'busy minute',
    'batches',
    'backup',
    'minute',
    'stop',
    'group',
    'batch',
    'kill busy',
    'change',
    'batches',
  ],
  [
    'change',
    'batch',
    'day',
    'change',
    'batch',
    'busy minute',
    'drop',
    'backup',
    'minute',
    'group',
    'kill',
    'batch',
    'busy minute',
    'change',
  ],
];

/** Everything there is, in rounds that differ. */
export function allSteps(rounds: number, first = 0): Step[] {
  return Array.from(
    { length: rounds },
    (_, round) => days[(first + round) % days.length] ?? [],
  ).flat();
}

/** In another order; the same for the same seed. */
export function shuffled<T>(of: readonly T[], seed: number): T[] {
  const chance = (index: number) => crc32(`${seed} ${index}`);
  return [...of.entries()].sort(([a], [b]) => chance(a) - chance(b)).map(([, one]) => one);
}
