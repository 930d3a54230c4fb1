import type { Clock } from '../../domain/clock.ts';
import type { Bindings } from '../request/request-context.ts';
import { breakOff, hangUp } from './broken-answer.ts';
import type { Faults } from './faults.ts';

type FetchHandler = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

interface FaultyOptions {
  faults: Faults;
  clock: Clock;
  /** Aborted when the service stops. Ends delays at once. */
  stopping: AbortSignal;
}

function delay(delayMs: number, { clock, stopping }: FaultyOptions): Promise<void> {
  return new Promise((done) => {
    if (delayMs === 0 || stopping.aborted) return done();
    const end = () => {
      cancel();
      stopping.removeEventListener('abort', end);
      done();
    };
    const cancel = clock.after(delayMs, end);
    stopping.addEventListener('abort', end);
  });
}

/**
 * Adds injected faults to the service. Statuses are answered inside the app, so that they look like
 * any other problem document. Broken connections are handled here, where the connection is
 * available. Delays come after the request was handled, so that a client that times out does not
 * know whether it was.
 */
export function withFaults(answer: FetchHandler, options: FaultyOptions): FetchHandler {
  return async (request, bindings) => {
    const hit = options.faults.faultsFor(request.method, new URL(request.url).pathname);
    if (!hit) return answer(request, bindings);
    const { rules, delayMs, effect } = hit;
    if (effect?.kind === 'drop') {
      await delay(delayMs, options);
      return hangUp(bindings?.outgoing);
    }
    const response = await answer(
      request,
      effect?.kind === 'status' ? { ...bindings, statusEffect: effect } : bindings,
    );
    for (const rule of rules) response.headers.append('X-Signage-Fault', rule);
    await delay(delayMs, options);
    if (effect?.kind === 'lose') return hangUp(bindings?.outgoing);
    return effect?.kind === 'truncate'
      ? breakOff(response, request.method, bindings?.outgoing)
      : response;
  };
}
