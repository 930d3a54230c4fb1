import type { AppOptions } from '../app-options.ts';
import { requestIdOf } from '../request/request-log.ts';
import { segmentsOf, tvOperationAt } from './fault-target.ts';

/**
 * Returns a function that adds a request to the log for operators, if it is a request of a TV. The
 * app never receives a request that a fault rule drops.
 */
export function makeDropLog({
  services,
  clock,
  newId,
}: Pick<AppOptions, 'services' | 'clock' | 'newId'>) {
  return ({ method, url, headers }: Request, faults: readonly string[]): void => {
    const target = tvOperationAt(method, segmentsOf(new URL(url).pathname));
    if (!target) return;
    services.requests.record(target, {
      at: clock.now(),
      operation: target.operation,
      status: null,
      code: null,
      detail: null,
      faults,
      requestId: requestIdOf(headers.get('x-request-id'), newId),
      sequence: 0,
    });
  };
}
