import { keepProcessAlive } from '../../client/pause.ts';
import { hourMs, secondMs } from '../../domain/clock.ts';
import { abortedLater, unlessAborted } from '../../domain/concurrency.ts';
import { hasCode } from '../../domain/error.ts';
import { FleetTv } from '../tv/tv.ts';
import {
  type Baseline,
  notReconciled,
  type ReconcileOptions,
  type Reconciliation,
  readBaseline,
  reconcile,
} from '../verify/reconcile.ts';
import { type FleetDependencies, makeFleetDependencies } from './dependencies.ts';
import { type FleetLifecycle, provision } from './lifecycle.ts';
import type { FleetOptions } from './options.ts';
import { deviceInfoOf, type FleetPlan, planFleet, timesOf } from './plan.ts';
import {
  eventCounts,
  type FleetProgress,
  type FleetReport,
  type LeftBehind,
  ProgressMeter,
} from './report.ts';

const progressEveryMs = secondMs / 4;
/** Maximum time for an orderly stop of the TVs. After this time, the power of all TVs is cut. */
const graceMs = 10 * secondMs;
/** Maximum number of events that can be compared within `afterInterruptionMs.comparing`. */
const maxComparedAfterInterruption = 10_000;
/**
 * Deadlines after an interruption, in milliseconds. Comparing and clearing run in parallel, so that
 * the run ends within two seconds.
 */
const afterInterruptionMs = { working: 400, comparing: 1500, clearing: 1500 };

function unwrap<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** One run of a fleet: prepare, simulate, compare, clean up. */
class FleetRun {
  readonly #options: FleetOptions;
  readonly #plan: FleetPlan;
  readonly #dependencies: FleetDependencies;
  readonly #signal: AbortSignal;
  readonly #deadlines: { working: AbortSignal; comparing: AbortSignal; clearing: AbortSignal };
  #step: FleetProgress['step'] = 'preparing';
  #compared = 0;
  #preparing: Promise<void> = Promise.resolve();
  #lifecycle: FleetLifecycle | undefined;
  #baseline: Baseline | undefined;
  #tvs: FleetTv[] = [];
  #startedAtMs: number;
  #tookMs = 0;
  #left: LeftBehind = { events: 0, screens: 0, isMarked: false };

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#plan = planFleet(options);
    this.#dependencies = makeFleetDependencies(options);
    this.#signal = options.signal ?? new AbortController().signal;
    this.#startedAtMs = this.#dependencies.clock.now();
    const deadline = (name: keyof typeof afterInterruptionMs) =>
      abortedLater(this.#dependencies.clock, this.#signal, afterInterruptionMs[name]);
    this.#deadlines = {
      working: deadline('working'),
      comparing: deadline('comparing'),
      clearing: deadline('clearing'),
    };
  }

  /** If the run is impossible, deletes the created records and throws. */
  async run(): Promise<FleetReport> {
    const stopMeter = this.#startMeter();
    try {
      const failure = await this.#begin();
      const comparing = this.#compare(failure !== undefined);
      // After an interruption, comparing and cleaning up run in parallel to save time.
      if (!this.#signal.aborted) await comparing.catch(() => {});
      const [compared, left] = await Promise.allSettled([comparing, this.#cleanUp()]);
      if (failure) throw failure.error;
      unwrap(left);
      return this.#report(unwrap(compared));
    } finally {
      stopMeter();
      await this.#dependencies.close();
    }
  }

  /**
   * Prepares and runs the simulation. Returns the error that made the run fail. An interruption is
   * not an error.
   */
  async #begin(): Promise<{ error: unknown } | undefined> {
    try {
      this.#preparing = this.#prepare();
      await unlessAborted(this.#preparing, this.#deadlines.working);
      if (this.#lifecycle && !this.#signal.aborted)
        await unlessAborted(this.#simulate(this.#lifecycle), this.#deadlines.working);
      return undefined;
    } catch (error) {
      return this.#signal.aborted && hasCode(error, 'interrupted') ? undefined : { error };
    } finally {
      if (this.#tvs.length > 0) this.#tookMs = this.#dependencies.clock.now() - this.#startedAtMs;
    }
  }

  async #prepare(): Promise<void> {
    const { management } = this.#dependencies;
    const lifecycle = await provision({
      options: this.#options,
      plan: this.#plan,
      dependencies: this.#dependencies,
      signal: this.#signal,
      clearing: this.#deadlines.clearing,
    });
    this.#lifecycle = lifecycle;
    if (management && this.#options.compare !== false)
      this.#baseline = await readBaseline(management, this.#signal);
  }

  async #simulate({ codeProvider, runSeed: seed, states }: FleetLifecycle): Promise<void> {
    const { count, endsAfterMs } = this.#plan;
    const { clock } = this.#dependencies;
    const { url } = this.#options;
    const shared = { ...this.#plan, ...this.#dependencies, url, seed, codeProvider };
    this.#step = 'running';
    this.#startedAtMs = clock.now();
    this.#tvs = Array.from({ length: count }, (_, number) => {
      const deviceInfo = deviceInfoOf(this.#plan, this.#options, number);
      return new FleetTv(shared, {
        number,
        deviceInfo,
        ...timesOf(this.#plan, number),
        state: states[number],
      });
    });
    const kill = () => this.#each((tv) => tv.kill());
    this.#signal.addEventListener('abort', kill, { once: true });
    const cancels =
      endsAfterMs === undefined
        ? []
        : [clock.after(endsAfterMs, () => this.#each((tv) => tv.retire()))];
    if (endsAfterMs !== undefined) cancels.push(clock.after(endsAfterMs + graceMs, kill));
    const lives = this.#tvs.map((tv) => tv.live());
    try {
      await Promise.all(lives);
    } finally {
      kill();
      await Promise.allSettled(lives);
      for (const cancel of cancels) cancel();
      this.#signal.removeEventListener('abort', kill);
    }
  }

  #each(act: (tv: FleetTv) => void): void {
    for (const tv of this.#tvs) act(tv);
  }

  async #compare(hasFailed: boolean): Promise<Reconciliation> {
    const { management, ledger } = this.#dependencies;
    if (this.#options.compare === false)
      return notReconciled(ledger, 'The comparison was disabled.');
    if (!management)
      return notReconciled(ledger, 'There is no management token to read the stored events.');
    if (hasFailed || !this.#baseline)
      return notReconciled(ledger, 'The run failed before it began.');
    if (this.#signal.aborted && ledger.acknowledged > maxComparedAfterInterruption)
      return notReconciled(ledger, 'The run was interrupted.');
    this.#step = 'comparing';
    const onProgress = (compared: number) => {
      this.#compared = compared;
    };
    return reconcile({
      management,
      ledger,
      baseline: this.#baseline,
      signal: this.#deadlines.comparing,
      keys: this.#keyCheck(),
      onProgress,
    });
  }

  /**
   * Returns the input of the key check. Returns `undefined` without key rotation, and after an
   * interruption, which leaves no time for the check.
   */
  #keyCheck(): ReconcileOptions['keys'] {
    if (this.#plan.rotateEveryMs === undefined || this.#signal.aborted) return undefined;
    return {
      client: this.#dependencies.keyless,
      states: this.#tvs.map((tv) => tv.state),
      signal: this.#signal,
    };
  }

  async #cleanUp(): Promise<void> {
    this.#step = 'clearing';
    // Waits for an aborted preparation, which deletes the records it has created.
    await unlessAborted(
      this.#preparing.catch(() => {}),
      this.#deadlines.clearing,
    );
    if (this.#lifecycle) this.#left = await this.#lifecycle.leave(this.#tvs.map((tv) => tv.state));
  }

  #startMeter(): () => void {
    const { clock } = this.#dependencies;
    const { onProgress } = this.#options;
    if (!onProgress) return () => {};
    const meter = new ProgressMeter(this.#startedAtMs);
    let cancel = () => {};
    const report = () => {
      onProgress(
        meter.measure(clock.now(), this.#counts(), { step: this.#step, compared: this.#compared }),
      );
      cancel = clock.after(progressEveryMs, report);
    };
    cancel = clock.after(progressEveryMs, report);
    return () => cancel();
  }

  #counts() {
    const { counters, traffic, ledger } = this.#dependencies;
    return { counters, traffic, acknowledged: ledger.acknowledged };
  }

  #report(reconciliation: Reconciliation): FleetReport {
    const { counters, traffic, ledger, notes } = this.#dependencies;
    const seconds = this.#tookMs / secondMs;
    const livedMs = this.#tvs.reduce((sum, tv) => sum + tv.livedMs, 0) / (this.#tvs.length || 1);
    return {
      seed: this.#lifecycle?.seed ?? this.#plan.seed,
      isInterrupted: this.#signal.aborted,
      tvs: { count: this.#plan.count, bound: counters.bound, unpaired: counters.givenUp },
      seconds,
      hoursLived: livedMs / hourMs,
      requests: traffic.requests,
      requestsPerSecond: seconds > 0 ? traffic.requests / seconds : 0,
      endpoints: traffic.endpoints(),
      rotations: counters.rotations,
      fallBacks: counters.fallBacks,
      repeatedBatches: ledger.repeats,
      events: eventCounts(this.#counts()),
      faults: this.#plan.rules.map(({ rule }) => ({ rule, count: counters.faults.get(rule) ?? 0 })),
      failures: counters.failures,
      reconciliation,
      left: this.#left,
      notes,
    };
  }
}

/**
 * Runs a fleet of simulated TVs against a service, with the given faults. Each TV registers, plays
 * and reports like a real TV. At the end, the run compares the events that the service acknowledged
 * with the events that it stored.
 *
 * Creates a venue, screens and pairing codes, unless `codes` are given. At the end, the run deletes
 * these records, or revokes the devices of given codes, unless `keep` is given. Stored events
 * remain. The run changes no other records.
 *
 * Resolves with the report, which counts the failures of single TVs. Rejects if the run is
 * impossible: `invalid_option`, `invalid_file`, `credential_missing`, `insufficient_role`,
 * `unreachable` and other codes of the service.
 *
 * With `speed: Infinity`, the TVs never wait for the clock, so a simulated week takes only as long
 * as its requests.
 *
 * @example
 * const weekMs = 7 * 24 * 3_600_000;
 * const { reconciliation } = await runFleet({
 *   url,
 *   token,
 *   count: 10,
 *   speed: Infinity,
 *   lifeMs: weekMs,
 *   faults: ['lost-answer:events:5%'],
 * });
 * assert.deepEqual(reconciliation.findings, []);
 */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const release = keepProcessAlive();
  try {
    return await new FleetRun(options).run();
  } finally {
    release();
  }
}
