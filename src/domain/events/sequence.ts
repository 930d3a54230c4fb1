import { largest, smallest } from '../numbers/extremes.ts';
/** Consecutive sequence numbers, from the first to the last. */
export type NumberRange = [first: number, last: number];

/** Statistics of the sequence numbers of a device (docs/protocol.md §5.3). */
export interface DeviceSequence {
  /** The highest number that arrived. */
  lastSeq: number;
  /** How many lower numbers have not arrived. */
  missingEvents: number;
  /** How many numbers arrived again, not counting repeated batches. */
  conflictingEvents: number;
}

/** State of the sequence numbers of a device, as plain JSON. */
export interface SequenceState {
  /** Up to this number, missing numbers stay missing, and numbers that arrive are ignored. */
  floor: number;
  /** How many numbers up to `floor` never arrived. */
  missing: number;
  conflicts: number;
  /** Numbers above `floor` that arrived, as sorted ranges with gaps between them. */
  ranges: readonly NumberRange[];
}

/** Maximum number of ranges of a device. Only a device with many missing numbers exceeds it. */
const maxRanges = 100;

export const emptySequence: SequenceState = { floor: 0, missing: 0, conflicts: 0, ranges: [] };

/**
 * Returns the sequence number of an event, or `undefined` for a value that is not a positive
 * integer.
 */
export function sequenceNumber(seq: unknown): number | undefined {
  return Number.isSafeInteger(seq) && (seq as number) >= 1 ? (seq as number) : undefined;
}

/** Adds the sequence number of an event to the numbers of its batch, in the order of the events. */
export function addNumber(ranges: NumberRange[], seq: unknown): void {
  const number = sequenceNumber(seq);
  if (number === undefined) return;
  const last = ranges.at(-1);
  if (last && last[1] + 1 === number) last[1] = number;
  else ranges.push([number, number]);
}

const lengthOf = ([first, last]: NumberRange) => last - first + 1;
const lengthOfAll = (ranges: readonly NumberRange[]) =>
  ranges.reduce((sum, range) => sum + lengthOf(range), 0);

function addRange(state: SequenceState, [first, last]: NumberRange): SequenceState {
  const fresh: NumberRange = [Math.max(first, state.floor + 1), last];
  if (fresh[0] > fresh[1]) return state;
  const isBefore = (range: NumberRange) => range[1] < fresh[0] - 1;
  const isAfter = (range: NumberRange) => range[0] > fresh[1] + 1;
  const touching = state.ranges.filter((range) => !isBefore(range) && !isAfter(range));
  const merged: NumberRange = [
    smallest(
      touching.map((range) => range[0]),
      fresh[0],
    ),
    largest(
      touching.map((range) => range[1]),
      fresh[1],
    ),
  ];
  // Numbers that do not enlarge the merged range had arrived before.
  const gained = lengthOf(merged) - lengthOfAll(touching);
  return {
    ...state,
    conflicts: state.conflicts + lengthOf(fresh) - gained,
    ranges: [...state.ranges.filter(isBefore), merged, ...state.ranges.filter(isAfter)],
  };
}

/** Counts the oldest gaps beyond `maxRanges` as missing permanently. */
function bounded(state: SequenceState): SequenceState {
  let { floor, missing, ranges } = state;
  while (ranges.length > maxRanges) {
    const [[first, last], ...rest] = ranges as [NumberRange, ...NumberRange[]];
    missing += first - floor - 1;
    floor = last;
    ranges = rest;
  }
  return { ...state, floor, missing, ranges };
}

/** Returns the state after a batch with these numbers. */
export function withNumbers(state: SequenceState, numbers: readonly NumberRange[]): SequenceState {
  return bounded(numbers.reduce(addRange, state));
}

export function summaryOf({ floor, missing, conflicts, ranges }: SequenceState): DeviceSequence {
  const lastSeq = ranges.at(-1)?.[1] ?? floor;
  return {
    lastSeq,
    // No partial sum exceeds the safe integers.
    missingEvents: lastSeq - floor - lengthOfAll(ranges) + missing,
    conflictingEvents: conflicts,
  };
}
