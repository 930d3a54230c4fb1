import type { TvOperation } from '../../faults/tv-call.ts';
import type { TvRequest } from './exchange.ts';

/** Work that is done once, before the service handles the TV's next request of an operation. */
export interface Preparation {
  operation: TvOperation;
  /** Returns whether the work is done for this request. */
  accepts(request: TvRequest): boolean;
  prepare(): Promise<void>;
}

/** The preparations that still wait for their request. */
export class Preparations {
  #waiting: readonly Preparation[] = [];

  add(preparation: Preparation): void {
    this.#waiting = [...this.#waiting, preparation];
  }

  remove(preparation: Preparation): void {
    this.#waiting = this.#waiting.filter((one) => one !== preparation);
  }

  /** Runs the preparations of a request, in the order in which they were added. */
  async run(request: TvRequest): Promise<void> {
    const due = this.#waiting.filter(
      (one) => one.operation === request.operation && one.accepts(request),
    );
    for (const one of due) this.remove(one);
    for (const one of due) await one.prepare();
  }
}
