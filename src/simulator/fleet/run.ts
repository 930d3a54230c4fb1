import { hourMs, secondMs } from '../../domain/clock.ts';
import { hasCode } from '../../domain/error.ts';
import { FleetTv } from '../tv/tv.ts';
import {
  type Baseline,
  notReconciled,
  type Reconciliation,
  type Reconciling,
  readBaseline,
  reconcile,
} from '../verify/reconcile.ts';
import { abortedLater, unlessAborted } from './abort.ts';
import { type FleetDependencies, makeFleetDependencies } from './dependencies.ts';
import { type FleetLifecycle, provision } from './lifecycle.ts';
import type { FleetOptions } from './options.ts';
import { deviceInfoOf, type FleetPlan, planFleet, timesOf } from './plan.ts';
import { eventCounts, type FleetProgress, type FleetReport, ProgressMeter } from './report.ts';

const progressEveryMs = secondMs / 4;
/** How long TVs have to end in good order. */
const graceMs = 10 * secondMs;
/** So many events can be compared after an interruption, beside the clearing away. */
const quicklyCompared = 10_000;
/** How long what is under way at an interruption may take, the comparing and the clearing away: in all, less than two seconds. */
const afterInterruptionMs = { working: 400, comparing: 1500, clearing: 1500 };

function outcome<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** One run of a fleet, step by step. */
export class FleetRun {
  readonly #options: FleetOptions;
  readonly #plan: FleetPlan;
  readonly #gear: FleetDependencies;
  readonly #signal: AbortSignal;
  readonly #late: { working: AbortSignal; comparing: AbortSignal; clearing: AbortSignal };
  #step: FleetProgress['step'] = 'preparing';
  #compared = 0;
  #preparing: Promise<void> = Promise.resolve();
  #home: FleetLifecycle | undefined;
  #baseline: Baseline | undefined;
  #tvs: FleetTv[] = [];
  #startedAtMs: number;
  #tookMs = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#plan = planFleet(options);
    this.#gear = makeFleetDependencies(options);
    this.#signal = options.signal ?? new AbortController().signal;
    this.#startedAtMs = this.#gear.clock.now();
    const later = (name: keyof typeof afterInterruptionMs) =>
      abortedLater(this.#gear.clock, this.#signal, afterInterruptionMs[name]);
    this.#late = {
      working: later('working'),
      comparing: later('comparing'),
      clearing: later('clearing'),
    };
  }

  /** From the first screen to the last. Throws what makes a run impossible, after taking away what was made. */
  async go(): Promise<FleetReport> {
    const stopMeter = this.#startMeter();
    try {
      const failure = await this.#begin();
      const comparing = this.#compare(failure !== undefined);
      // After an interruption there is no time to do one thing after the other.
      if (!this.#signal.aborted) await comparing.catch(() => {});
      const [compared, left] = await Promise.allSettled([comparing, this.#leave()]);
      if (failure) throw failure.error;
      outcome(left);
      return this.#report(outcome(compared));
    } finally {
      stopMeter();
      await this.#gear.close();
    }
  }

  /** Prepares and lets live; answers what went wrong with the run as a whole, which an interruption is not. */
  async #begin(): Promise<{ error: unknown } | undefined> {
    try {
      this.#preparing = this.#prepare();
      await unlessAborted(this.#preparing, this.#late.working);
      if (this.#home && !this.#signal.aborted)
        await unlessAborted(this.#live(this.#home), this.#late.working);
      return undefined;
    } catch (error) {
      return this.#signal.aborted && hasCode(error, 'interrupted') ? undefined : { error };
    } finally {
      if (this.#tvs.length > 0) this.#tookMs = this.#gear.clock.now() - this.#startedAtMs;
    }
  }

  async #prepare(): Promise<void> {
    const { management } = this.#gear;
    const household = { options: this.#options, plan: this.#plan, gear: this.#gear };
    const home = await provision({
      ...household,
      signal: this.#signal,
      clearing: this.#late.clearing,
    });
    this.#home = home;
    if (management && this.#options.compare !== false)
      this.#baseline = await readBaseline(management, this.#signal);
  }

  async #live({ desk, runSeed: seed, states }: FleetLifecycle): Promise<void> {
    const { speed, startMs, rules, count, endsAfterMs, rotateEveryMs } = this.#plan;
    const { clock, wire, ledger, tally, turnstile } = this.#gear;
    const gear = { wall: clock, turnstile, wire, desk, ledger, tally };
    const shared = { url: this.#options.url, speed, startMs, seed, rules, rotateEveryMs, ...gear };
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
    const { management, ledger } = this.#gear;
    if (this.#options.compare === false) return notReconciled(ledger, 'It was not asked for.');
    if (!management)
      return notReconciled(ledger, 'There is no management token to read what is stored with.');
    if (hasFailed || !this.#baseline) return notReconciled(ledger, 'The run had not begun.');
    if (this.#signal.aborted && ledger.acknowledged > quicklyCompared)
      return notReconciled(ledger, 'It was interrupted.');
    this.#step = 'comparing';
    const onProgress = (compared: number) => {
      this.#compared = compared;
    };
    return reconcile({
      management,
      ledger,
      baseline: this.#baseline,
      signal: this.#late.comparing,
      keys: this.#keys(),
      onProgress,
    });
  }

  /** Whose keys are to be looked at: after an interruption there is no time. */
  #keys(): Reconciling['keys'] {
    if (this.#plan.rotateEveryMs === undefined || this.#signal.aborted) return undefined;
    return {
      client: this.#gear.keyless,
      states: this.#tvs.map((tv) => tv.state),
      signal: this.#signal,
    };
  }

  async #leave(): Promise<void> {
    this.#step = 'clearing';
    // A preparation that was broken off takes away by itself what it has made.
    await unlessAborted(
      this.#preparing.catch(() => {}),
      this.#late.clearing,
    );
    await this.#home?.leave(this.#tvs.map((tv) => tv.state));
  }

  #startMeter(): () => void {
    const { clock } = this.#gear;
    const { onProgress } = this.#options;
    if (!onProgress) return () => {};
    const meter = new ProgressMeter(this.#startedAtMs);
    let cancel = () => {};
    const look = () => {
      onProgress(
        meter.look(clock.now(), this.#counted(), { step: this.#step, compared: this.#compared }),
      );
      cancel = clock.after(progressEveryMs, look);
    };
    cancel = clock.after(progressEveryMs, look);
    return () => cancel();
  }

  #counted() {
    const { tally, traffic, ledger } = this.#gear;
    return { tally, traffic, acknowledged: ledger.acknowledged };
  }

  #report(reconciliation: Reconciliation): FleetReport {
    const { tally, traffic, ledger, notes } = this.#gear;
    const seconds = this.#tookMs / secondMs;
    const livedMs = this.#tvs.reduce((sum, tv) => sum + tv.livedMs, 0) / (this.#tvs.length || 1);
    return {
      seed: this.#home?.seed ?? this.#plan.seed,
      isInterrupted: this.#signal.aborted,
      tvs: { count: this.#plan.count, bound: tally.bound, unpaired: tally.givenUp },
      seconds,
      hoursLived: livedMs / hourMs,
      requests: traffic.requests,
      requestsPerSecond: seconds > 0 ? traffic.requests / seconds : 0,
      endpoints: traffic.endpoints(),
      rotations: tally.rotations,
      fallBacks: tally.fallBacks,
      repeatedBatches: ledger.repeats,
      events: eventCounts(this.#counted()),
      faults: this.#plan.rules.map(({ rule }) => ({ rule, count: tally.faults.get(rule) ?? 0 })),
      failures: tally.failures,
      reconciliation,
      notes,
    };
  }
}
