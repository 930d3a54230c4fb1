import { maxMinutesOf, type TvExamOptions } from './parts/options.ts';
import type { PartId } from './parts/part-ids.ts';
import { isGood } from './parts/waits.ts';
import type { TvExchange } from './wire/exchange.ts';
import { maxExchanges } from './wire/recording.ts';

/** A reason to end an exam before its last part: nothing that the TV does now can make it pass. */
export interface CertainFailure {
  /** The part whose rows are judged all the same. `undefined`: those that ended. */
  part: PartId | undefined;
  /** The reason, after the words `The TV`. */
  text: string;
}

/**
 * Time after the registration in which each TV fetches its config and reports its first impression,
 * in minutes of TV time.
 */
export const patienceMinutes = 5;

const mistakes: readonly (CertainFailure & {
  isMade(exchanges: readonly TvExchange[]): boolean;
})[] = [
  {
    part: 'config',
    text: 'never fetched its config',
    isMade: (exchanges) =>
      !exchanges.some((one) => one.operation === 'getDeviceConfig' && isGood(one)),
  },
  {
    part: 'events',
    text: 'never sent an event',
    isMade: (exchanges) => !exchanges.some(({ operation }) => operation === 'postEvents'),
  },
  {
    part: 'playlist',
    text: 'never reported that it played an item',
    isMade: (exchanges) =>
      !exchanges.some(({ events }) => events.some(({ type }) => type === 'impression')),
  },
];

/** Returns the mistake that a TV has made `patienceMinutes` after its registration. */
export function mistakeOf(
  exchanges: readonly TvExchange[],
  isChosen: (part: PartId) => boolean,
): CertainFailure | undefined {
  // A TV that lost its key had less time.
  const codes = new Set(exchanges.map(({ pairingCode }) => pairingCode).filter(Boolean));
  if (codes.size > 1) return undefined;
  return mistakes.find(({ part, isMade }) => part && isChosen(part) && isMade(exchanges));
}

export const flood: CertainFailure = {
  part: undefined,
  text: `sent ${maxExchanges} requests`,
};

export const tooLate = (options: TvExamOptions): CertainFailure => ({
  part: undefined,
  text: `did not end the exam within ${maxMinutesOf(options)} minutes`,
});
