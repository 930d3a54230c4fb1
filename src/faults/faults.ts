import type { Random } from '../domain/clock.ts';
import type { RequestFault, TimeRange } from './parse-fault.ts';
import type { TvCall } from './tv-call.ts';

/** Returns a function that returns random numbers from 0 to just below 1. */
export function fractionsOf(random: Random): () => number {
  return () => {
    const { buffer, byteOffset } = random(4);
    return new DataView(buffer, byteOffset).getUint32(0) / 2 ** 32;
  };
}

/** A rule in force. */
export interface ActiveFault<R = unknown> {
  /** Names the rule in reports. */
  readonly id: string;
  readonly fault: RequestFault;
  /** Returns whether the rule may hit a request. Default: every request that the rule names. */
  accepts?: ((request: R) => boolean) | undefined;
  /** Number of requests that the rule could have hit. */
  seen: number;
  /** Number of requests that the rule hit. */
  count: number;
}

/** The effect of a rule on a request, other than a delay. */
export type FaultEffect = Exclude<RequestFault, { kind: 'slow' }> & { id: string; afterMs: number };
export type StatusEffect = Extract<FaultEffect, { kind: 'status' }>;

/** What happens to one request. */
export interface InjectedFaults {
  /** Ids of the rules that hit the request. */
  ids: readonly string[];
  delayMs: number;
  effect: FaultEffect | undefined;
}

/**
 * The fault rules in force, in order. Of all rules but `slow`, the first that hits a request takes
 * it, and later rules do not see it. Delays add up.
 */
export class Faults<R = unknown> {
  readonly #fraction: () => number;
  #active: readonly ActiveFault<R>[] = [];

  /** `fraction` returns random numbers from 0 to just below 1. */
  constructor(faults: readonly RequestFault[], fraction: () => number) {
    this.#fraction = fraction;
    this.replace(faults);
  }

  /** Replaces all rules. Their counts begin at 0. */
  replace(faults: readonly RequestFault[]): void {
    this.#active = [];
    for (const fault of faults) this.add(fault);
  }

  add(
    fault: RequestFault,
    { id = fault.rule, accepts }: { id?: string; accepts?: ActiveFault<R>['accepts'] } = {},
  ): ActiveFault<R> {
    const active = { id, fault, accepts, seen: 0, count: 0 };
    this.#active = [...this.#active, active];
    return active;
  }

  remove(active: ActiveFault<R>): void {
    this.#active = this.#active.filter((one) => one !== active);
  }

  /**
   * Decides what happens to a request. Call the function once for each request, because the rules
   * count requests. Returns `undefined` if no rule hits the request.
   */
  take(call: TvCall | undefined, request: R): InjectedFaults | undefined {
    const ids: string[] = [];
    let delayMs = 0;
    let effect: FaultEffect | undefined;
    for (const active of this.#active) {
      const { id, fault } = active;
      if ((effect && fault.kind !== 'slow') || !this.#hits(active, call, request)) continue;
      ids.push(id);
      if (fault.kind === 'slow') delayMs += this.#drawMs(fault.range);
      else effect = { ...fault, id, afterMs: 'range' in fault ? this.#drawMs(fault.range) : 0 };
    }
    return ids.length === 0 ? undefined : { ids, delayMs, effect };
  }

  #hits(active: ActiveFault<R>, call: TvCall | undefined, request: R): boolean {
    const { what, often } = active.fault;
    if (what !== 'all' && what !== call) return false;
    if (active.accepts && !active.accepts(request)) return false;
    active.seen++;
    const isHit =
      'share' in often
        ? this.#fraction() < often.share
        : 'every' in often
          ? active.seen % often.every === 0
          : active.seen <= often.first;
    if (isHit) active.count++;
    return isHit;
  }

  #drawMs({ fromMs, toMs }: TimeRange): number {
    return fromMs + Math.floor(this.#fraction() * (toMs - fromMs + 1));
  }
}
