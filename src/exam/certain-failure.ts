import { isGood } from './parts/part.ts';
import type { PartId } from './parts/part-ids.ts';
import type { TvExchange } from './wire/exchange.ts';

/** A mistake that no later request of the TV can undo. */
export interface CertainFailure {
  /** The part in which each TV does what this TV did not do. */
  part: PartId;
  /** The mistake, after the words `The TV`. */
  text: string;
  isMade(exchanges: readonly TvExchange[]): boolean;
}

/**
 * Time after the registration in which each TV fetches its config and reports its first impression,
 * in minutes of TV time. Most good TVs have ended the exam by then.
 */
export const patienceMinutes = (isQuick: boolean): number => (isQuick ? 8 : 20);

export const certainFailures: readonly CertainFailure[] = [
  {
    part: 'config',
    text: 'never fetched its config',
    isMade: (exchanges) =>
      !exchanges.some((one) => one.operation === 'getDeviceConfig' && isGood(one)),
  },
  {
    part: 'playlist',
    text: 'never reported that it played an item',
    isMade: (exchanges) =>
      !exchanges.some(({ events }) => events.some(({ type }) => type === 'impression')),
  },
];
