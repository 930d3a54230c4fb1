import type { Requester } from '../../client/requester.ts';
import { RuntimeClient } from '../../client/runtime-client.ts';
import type { Clock } from '../../domain/clock.ts';
import { Faults } from '../../faults/faults.ts';
import { type Fault, isRequestFault } from '../../faults/parse-fault.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import type { PlayerState } from '../../player/state.ts';
import { SeededRandom } from '../seeded-random.ts';
import type { FleetLedger } from '../verify/ledger.ts';
import type { FleetCounters } from './counters.ts';
import { makeFaultyLink } from './faulty-link.ts';
import { Outage, Power, SkewedClock, TvMemory } from './hardware.ts';
import { type RecordingTransport, replyOf } from './recording-transport.ts';
import { type ConcurrencyLimiter, makeVirtualClock, type VirtualClock } from './virtual-clock.ts';

/** Provides pairing codes to the TVs of a fleet, as an installer would. */
export interface PairingCodeProvider {
  /** Returns the next pairing code for a TV, or `undefined` if there is none. */
  codeFor(tv: number, reason: UnpairedReason): Promise<string | undefined>;
  /** Called when a TV has been bound to this screen. */
  bound(tv: number, screenId: string): void;
  /** Revokes a device. `undefined` without a management token. */
  revoke: Revoke | undefined;
}

/** Revokes a device. `signal` aborts the call. Default: the signal that ends the run. */
export type Revoke = (deviceId: string, reason: string, signal?: AbortSignal) => Promise<void>;

/** The settings and dependencies that all TVs of a fleet share. */
export interface FleetContext {
  url: string;
  speed: number;
  startMs: number;
  /** Interval of key rotation by the TV's clock. `undefined`: never. */
  rotateEveryMs?: number | undefined;
  /** Maximum `waitSeconds` of the TVs' requests for changes. */
  maxWaitSeconds?: number | undefined;
  rules: readonly Fault[];
  /** Seed of all randomness in the run. */
  seed: string;
  clock: Clock;
  limiter: ConcurrencyLimiter;
  transport: RecordingTransport;
  ledger: FleetLedger;
  counters: FleetCounters;
  codeProvider: PairingCodeProvider;
}

/** Long, because a request may wait for one of the shared connections. */
const requestTimeoutMs = 120_000;

/**
 * The simulated hardware of a player: its clock, network, power and memory, with the injected
 * faults.
 */
export class SimulatedDevice {
  readonly clock: VirtualClock;
  /** The clock that the player sees, which may be wrong. */
  readonly skewedClock: SkewedClock;
  readonly power = new Power();
  readonly memory: TvMemory;
  /** Client of the service, over the faulty network. */
  readonly client: RuntimeClient;
  readonly outage = new Outage();
  readonly shared: FleetContext;
  readonly #number: number;

  /** `state` is the saved state of an earlier run. */
  constructor(shared: FleetContext, number: number, state: PlayerState | undefined) {
    const { clock: wall, speed, startMs, limiter } = shared;
    this.shared = shared;
    this.#number = number;
    this.clock = makeVirtualClock({ speed, startMs, wall, limiter });
    this.skewedClock = new SkewedClock(this.clock);
    this.memory = new TvMemory(this.power, state);
    this.client = this.#clientOver(this.#makeLink());
  }

  randomFor(purpose: string): SeededRandom {
    return new SeededRandom(`${this.shared.seed}/tv ${this.#number}/${purpose}`);
  }

  /** Returns a client with the given key that bypasses the TV's faulty network. */
  directClient(apiKey: string): RuntimeClient {
    const { transport } = this.shared;
    const requester: Requester = async (url, parts) => replyOf(await transport.send(url, parts));
    return this.#clientOver(requester).withKey(apiKey);
  }

  #makeLink(): Requester {
    const { transport, counters, rules } = this.shared;
    const { clock, power, outage } = this;
    const random = this.randomFor('link');
    const faults = new Faults(rules.filter(isRequestFault), () => random.fraction());
    return makeFaultyLink({ transport, clock, power, outage, faults, counters });
  }

  /** Timeouts use real time. By the TV's own clock, a fast TV would not wait for any response. */
  #clientOver(requester: Requester): RuntimeClient {
    const { url, clock } = this.shared;
    const options = { url, clock, timeoutMs: requestTimeoutMs, retry: { attempts: 1 } };
    return new RuntimeClient({ ...options, makeRequester: async () => requester });
  }
}
