import type { LogSink } from '../../domain/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { LoadShedOptions } from './load-shed.ts';

/**
 * Reports load shedding to metrics and log. The log gets one line when it begins and one when it
 * ends, because more writing would add to the overload.
 */
export function makeShedReporter(
  metrics: Metrics,
  log: LogSink,
): Required<Pick<LoadShedOptions, 'onShed' | 'onOverloadChange'>> {
  return {
    onShed: metrics.requestShed,
    onOverloadChange(kind, isOverloaded) {
      if (isOverloaded) log.warn({ kind }, 'Overloaded: some requests are rejected.');
      else log.info({ kind }, 'The overload is over: no requests are rejected.');
    },
  };
}
