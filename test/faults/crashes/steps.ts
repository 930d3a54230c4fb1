import { crc32 } from 'node:zlib';

/** The steps of a life. */
export type Step =
  | 'change'
  /** Larger than a journal segment. */
  | 'large change'
  /** With many audit entries. */
  | 'bulk change'
  | 'group'
  | 'batch'
  | 'batches'
  | 'minute'
  | 'busy minute'
  /** Bulk changes arrive while a checkpoint is made. */
  | 'bulk minute'
  | 'day'
  | 'drop'
  | 'backup'
  | 'stop'
  | 'kill'
  | 'kill busy';

const days = [
  'change, batch, group, busy minute, batches, backup, minute, stop, group, batch, kill busy, change, batches',
  'change, batch, day, change, batch, busy minute, drop, backup, minute, group, kill, batch, busy minute, change',
].map((day) => day.split(', ') as Step[]);

/** A life with more audit entries at a checkpoint than it writes at once. */
export const bulkSteps: readonly Step[] = [
  'batch',
  'bulk change',
  'bulk change',
  'bulk change',
  'bulk minute',
  'change',
  'kill',
  'bulk minute',
  'change',
];

/** Returns all steps, in different rounds. */
export function allSteps(rounds: number, first = 0): Step[] {
  return Array.from(
    { length: rounds },
    (_, round) => days[(first + round) % days.length] ?? [],
  ).flat();
}

/** Returns a shuffled copy. The same seed gives the same order. */
export function shuffled<T>(of: readonly T[], seed: number): T[] {
  const chance = (index: number) => crc32(`${seed} ${index}`);
  return [...of.entries()].sort(([a], [b]) => chance(a) - chance(b)).map(([, one]) => one);
}
