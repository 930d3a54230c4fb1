import type { Clock } from '../../domain/clock.ts';
import type { Bindings } from '../request/request-context.ts';
import { breakOff, hangUp } from './broken-answer.ts';
import type { Faults } from './faults.ts';

type Answer = (request: Request, bindings?: Bindings) => Response | Promise<Response>;

interface FaultyOptions {
  faults: Faults;
  clock: Clock;
  /** Ends delays at once when the service stops. */
  stopping: AbortSignal;
}

function hold(delayMs: number, { clock, stopping }: FaultyOptions): Promise<void> {
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
 * The service with faults: what a rule hits is refused, held back, cut short or lost; all else passes as it is. A refusal is answered in the
 * app, so that it looks like any other problem; what breaks the connection is done here, where the connection is at hand. Delays come after the
 * request was handled: whoever gives up waiting does not know whether it was.
 */
export function withFaults(answer: Answer, options: FaultyOptions): Answer {
  return async (request, bindings) => {
    const hit = options.faults.of(request.method, new URL(request.url).pathname);
    if (!hit) return answer(request, bindings);
    const { rules, delayMs, effect } = hit;
    if (effect?.kind === 'drop') {
      await hold(delayMs, options);
      return hangUp(bindings?.outgoing);
    }
    const whole = await answer(
      request,
      effect?.kind === 'status' ? { ...bindings, refusal: effect } : bindings,
    );
    for (const rule of rules) whole.headers.append('X-Signage-Fault', rule);
    await hold(delayMs, options);
    if (effect?.kind === 'lose') return hangUp(bindings?.outgoing);
    return effect?.kind === 'truncate'
      ? breakOff(whole, request.method, bindings?.outgoing)
      : whole;
  };
}
