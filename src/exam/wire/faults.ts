import type { FieldError } from '../../domain/error.ts';
import type { TvOperation, TvRequest } from './exchange.ts';

/**
 * An answer that replaces the answer of the service. Without a `code`, the answer looks like that
 * of a proxy.
 */
interface AnswerEffect {
  kind: 'answer';
  status: number;
  code?: string;
  retryAfterSeconds?: number;
  /** Returns the field errors of the answer. */
  errors?(request: TvRequest): FieldError[];
}

/**
 * `lose`: the service handles the request, then the connection breaks. `cut`: the connection breaks
 * after `afterMs`, and the service does not handle the request. `at-once`: a request for changes is
 * not held.
 */
interface ConnectionEffect {
  kind: 'lose' | 'cut' | 'at-once';
  afterMs?: number;
}

export type Effect = AnswerEffect | ConnectionEffect;

/** A fault to inject into some requests of the TV. */
export interface Fault {
  /** Id by which the checks find the affected exchanges. */
  id: string;
  /** Operation that the fault applies to. Default: all operations. */
  operation?: TvOperation;
  effect: Effect;
  /** Maximum number of requests that the fault applies to. Default: unlimited. */
  times?: number;
  /** Returns whether the fault applies to a request. Default: it applies to all requests. */
  applies?(request: TvRequest): boolean;
}

/** A fault that is in force. */
export interface ActiveFault {
  readonly fault: Fault;
  /** Number of requests to which the fault was applied. */
  count: number;
}

/** The faults that are in force, in order of precedence. */
export class Faults {
  #active: readonly ActiveFault[] = [];

  add(fault: Fault): ActiveFault {
    const active = { fault, count: 0 };
    this.#active = [...this.#active, active];
    return active;
  }

  remove(active: ActiveFault): void {
    this.#active = this.#active.filter((one) => one !== active);
  }

  /** Returns the first fault that applies to a request, and counts the request. */
  take(request: TvRequest): Fault | undefined {
    const found = this.#active.find(
      ({ fault: { operation, times = Number.POSITIVE_INFINITY, applies }, count }) =>
        (operation ?? request.operation) === request.operation &&
        count < times &&
        (applies?.(request) ?? true),
    );
    if (found) found.count++;
    return found?.fault;
  }
}
