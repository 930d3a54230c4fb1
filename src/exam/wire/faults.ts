import type { FieldError } from '../../domain/error.ts';
import type { TvOperation, TvRequest } from './exchange.ts';

/**
 * An answer in place of the answer of the service. Without a code, it looks like the answer of a
 * proxy.
 */
interface AnswerEffect {
  kind: 'answer';
  status: number;
  code?: string;
  retryAfterSeconds?: number;
  /** Returns the wrong members that the answer names. */
  errors?(request: TvRequest): FieldError[];
}

/**
 * `lose`: the service handles the request, and the connection breaks. `cut`: the connection breaks
 * after `afterMs`, and the service does not handle the request. `at-once`: a request for changes is
 * not held.
 */
interface ConnectionEffect {
  kind: 'lose' | 'cut' | 'at-once';
  afterMs?: number;
}

export type Effect = AnswerEffect | ConnectionEffect;

/** What happens to some requests of the TV. */
export interface Fault {
  /** The checks find the exchanges of a fault by this id. */
  id: string;
  /** Default: every request of the TV. */
  operation?: TvOperation;
  effect: Effect;
  /** Number of requests that the fault applies to. Default: all. */
  times?: number;
  /** Selects the requests that the fault applies to. Default: all. */
  applies?(request: TvRequest): boolean;
}

/** A fault that is in force. */
export interface ActiveFault {
  readonly fault: Fault;
  /** Number of requests that it was applied to. */
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

  /** Returns the first fault that applies to a request, and counts it. */
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
