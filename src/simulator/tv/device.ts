import type { Requester } from '../../client/requester.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import type { Clock } from '../../domain/clock.ts';
import { isLinkFault, type Rule } from '../faults/fault.ts';
import { makeFaultyLink } from '../faults/faulty-link.ts';
import { Outage, Power, SkewedClock, TvMemory } from '../faults/hardware.ts';
import { type FaultyTv, startLifeFaults } from '../faults/life-faults.ts';
import type { PairingCodeProvider } from '../fleet/code-provider.ts';
import type { FleetCounters } from '../fleet/report.ts';
import type { PlayerState } from '../player/state.ts';
import { SeededRandom } from '../time/seeded-random.ts';
import {
  type ConcurrencyLimiter,
  makeVirtualClock,
  type VirtualClock,
} from '../time/virtual-clock.ts';
import type { FleetLedger } from '../verify/ledger.ts';
import { type RecordingTransport, replyOf } from './recording-transport.ts';

/** What all TVs of a fleet share. */
export interface FleetContext {
  url: string;
  /** Real time. */
  wall: Clock;
  /** See `VirtualClockOptions`. */
  speed: number;
  startMs: number;
  limiter: ConcurrencyLimiter;
  /** Interval of key rotation; `undefined` for never. */
  rotateEveryMs: number | undefined;
  /** Seed of all randomness in the run. */
  seed: string;
  rules: readonly Rule[];
  transport: RecordingTransport;
  codeProvider: PairingCodeProvider;
  ledger: FleetLedger;
  counters: FleetCounters;
}

/** Generous, because a request may wait for one of the shared connections. */
const requestTimeoutMs = 120_000;

/**
 * The hardware around a player: its clock, network, power and memory, with the faults injected into
 * them.
 */
export class SimulatedDevice {
  readonly clock: VirtualClock;
  /** The clock that the player sees, which may be wrong. */
  readonly skewedClock: SkewedClock;
  readonly power = new Power();
  readonly memory: TvMemory;
  /** Client of the service, over the faulty network. */
  readonly client: RuntimeClient;
  readonly #outage = new Outage();
  readonly #shared: FleetContext;
  readonly #number: number;

  /** `state` is the saved state of an earlier run. */
  constructor(shared: FleetContext, number: number, state: PlayerState | undefined) {
    const { wall, speed, startMs, limiter } = shared;
    this.#shared = shared;
    this.#number = number;
    this.clock = makeVirtualClock({ speed, startMs, wall, limiter });
    this.skewedClock = new SkewedClock(this.clock);
    this.memory = new TvMemory(this.power, state);
    this.client = this.#clientOver(this.#makeLink());
  }

  /** Returns the random sequence for one purpose. */
  randomFor(purpose: string): SeededRandom {
    return new SeededRandom(`${this.#shared.seed}/tv ${this.#number}/${purpose}`);
  }

  /** Starts the faults of the rules. Returns a function that stops them. */
  startFaults(): () => void {
    const { transport, codeProvider, counters, rules } = this.#shared;
    if (rules.length === 0) return () => {};
    const faultyTv: FaultyTv = {
      clock: this.clock,
      skewedClock: this.skewedClock,
      power: this.power,
      memory: this.memory,
      outage: this.#outage,
      randomFor: (purpose) => this.randomFor(purpose),
      revoke: codeProvider.revoke,
      clientWith: (apiKey) =>
        this.#clientOver(async (url, parts) => replyOf(await transport.send(url, parts))).withKey(
          apiKey,
        ),
      onFault: (rule) => counters.fault(rule),
      onFailure: (error) => counters.fail(error),
    };
    return startLifeFaults(faultyTv, rules);
  }

  #makeLink(): Requester {
    const { transport, counters } = this.#shared;
    const rules = this.#shared.rules.filter(isLinkFault);
    const random = rules.length > 0 ? this.randomFor('link') : undefined;
    return makeFaultyLink({
      transport,
      clock: this.clock,
      power: this.power,
      outage: this.#outage,
      random,
      rules,
      counters,
    });
  }

  /** Timeouts use real time: by its own clock, a fast TV would not wait for any response. */
  #clientOver(requester: Requester): RuntimeClient {
    const { url, wall } = this.#shared;
    const options = { url, clock: wall, timeoutMs: requestTimeoutMs, retry: { attempts: 1 } };
    return new RuntimeClient({ ...options, makeRequester: async () => requester });
  }
}
