import type { LogSink } from '../../domain/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { LoadShedOptions } from './load-shed.ts';

/** Tells metrics and log of what is turned away: the log once when it begins and once when it is over, for it would not help to write more then. */
export function shedWatch(
  metrics: Metrics,
  log: LogSink,
): Required<Pick<LoadShedOptions, 'onShed' | 'onTurn'>> {
  return {
    onShed: metrics.requestShed,
    onTurn(kind, isOverloaded) {
      if (isOverloaded)
        log.warn({ kind }, 'More requests come than get through: some are turned away.');
      else log.info({ kind }, 'All requests get through again.');
    },
  };
}
