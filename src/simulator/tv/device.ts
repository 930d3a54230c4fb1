import type { Requester } from '../../client/requester.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import type { Clock } from '../../domain/clock.ts';
import { isLinkFault, type Rule } from '../faults/fault.ts';
import { makeFaultyLink } from '../faults/faulty-link.ts';
import { type FaultyTv, startLifeFaults } from '../faults/life-faults.ts';
import { Outage } from '../faults/outage.ts';
import { Power } from '../faults/power.ts';
import { SkewedClock } from '../faults/skewed-clock.ts';
import { TvMemory } from '../faults/tv-memory.ts';
import type { PairingCodeProvider } from '../fleet/code-provider.ts';
import type { FleetCounters } from '../fleet/counters.ts';
import type { ConcurrencyLimiter } from '../fleet/limiter.ts';
import type { PlayerState } from '../player/state.ts';
import { SeededRandom } from '../time/seeded-random.ts';
import { makeVirtualClock, type VirtualClock } from '../time/virtual-clock.ts';
import type { FleetLedger } from '../verify/ledger.ts';
import { type RecordingTransport, replyOf } from './recording-transport.ts';

/** What the TVs of a fleet share. */
export interface FleetContext {
  url: string;
  wall: Clock;
  /** See `VirtualClockOptions`. */
  speed: number;
  startMs: number;
  turnstile: ConcurrencyLimiter;
  /** How often each changes its key; never if left out. */
  rotateEveryMs: number | undefined;
  /** What all chance of the run follows from. */
  seed: string;
  rules: readonly Rule[];
  wire: RecordingTransport;
  desk: PairingCodeProvider;
  ledger: FleetLedger;
  tally: FleetCounters;
}

/** Long, for a request may wait for one of the connections that all TVs share. */
const requestTimeoutMs = 120_000;

/** The set that a player is built into: its clock, network, power and memory, and what goes wrong with them. */
export class SimulatedDevice {
  readonly clock: VirtualClock;
  /** As the TV has it, which may be wrong. */
  readonly shownClock: SkewedClock;
  readonly power = new Power();
  readonly memory: TvMemory;
  /** The way to the service, faults and all. */
  readonly client: RuntimeClient;
  readonly #outage = new Outage();
  readonly #shared: FleetContext;
  readonly #number: number;

  /** `state` is what the TV kept of an earlier run. */
  constructor(shared: FleetContext, number: number, state: PlayerState | undefined) {
    const { wall, speed, startMs, turnstile } = shared;
    this.#shared = shared;
    this.#number = number;
    this.clock = makeVirtualClock({ speed, startMs, wall, turnstile });
    this.shownClock = new SkewedClock(this.clock);
    this.memory = new TvMemory(this.power, state);
    this.client = this.#clientOver(this.#makeLink());
  }

  /** Chance for one purpose. */
  chanceFor(purpose: string): SeededRandom {
    return new SeededRandom(`${this.#shared.seed}/tv ${this.#number}/${purpose}`);
  }

  /** Lets happen to it from now on what the rules have for it. Returns how to stop. */
  startTroubles(): () => void {
    const { wire, desk, tally, rules } = this.#shared;
    if (rules.length === 0) return () => {};
    const troubled: FaultyTv = {
      clock: this.clock,
      shownClock: this.shownClock,
      power: this.power,
      memory: this.memory,
      outage: this.#outage,
      chanceFor: (purpose) => this.chanceFor(purpose),
      revoke: desk.revoke,
      clientWith: (apiKey) =>
        this.#clientOver(async (url, parts) => replyOf(await wire.send(url, parts))).withKey(
          apiKey,
        ),
      onFault: (rule) => tally.fault(rule),
      onFailure: (error) => tally.fail(error),
    };
    return startLifeFaults(troubled, rules);
  }

  #makeLink(): Requester {
    const { wire, tally } = this.#shared;
    const rules = this.#shared.rules.filter(isLinkFault);
    const chance = rules.length > 0 ? this.chanceFor('link') : undefined;
    return makeFaultyLink({
      wire,
      clock: this.clock,
      power: this.power,
      outage: this.#outage,
      chance,
      rules,
      tally,
    });
  }

  /** Time-outs count the wall's time: a fast TV would not wait for any answer. */
  #clientOver(requester: Requester): RuntimeClient {
    const { url, wall } = this.#shared;
    const options = { url, clock: wall, timeoutMs: requestTimeoutMs, retry: { attempts: 1 } };
    return new RuntimeClient({ ...options, makeRequester: async () => requester });
  }
}
