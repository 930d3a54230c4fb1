import { setImmediate } from 'node:timers/promises';
import { dayMs, minuteMs } from '../../../src/domain/clock.ts';
import { type ErrorCode, hasCode } from '../../../src/domain/error.ts';
import { restoreDump } from '../../../src/store/dump/restore-dump.ts';
import type { FileSystem } from '../../../src/store/json/disk/file-system.ts';
import type { Store } from '../../../src/store/store.ts';
import { targetOn } from '../../store/dump/backup-load.ts';
import { CrashDisk } from '../../store/json/crash-disk.ts';
import { ManualClock } from '../../support/runtime/manual-clock.ts';
import { checkState, type Defect, directory, openOn } from './checker.ts';
import { compare } from './compare.ts';
import { contentsOf } from './contents.ts';
import { newRun, type Run } from './model.ts';
import type { RecordedDisk } from './recorded-disk.ts';
import {
  batchNumber,
  firstBulk,
  firstLarge,
  giveUpChange,
  isKeyed,
  makeChange,
  makeConflictingChange,
} from './sample-changes.ts';
import type { Step } from './steps.ts';

/** Wraps the disk and may make it fail, except while it is quiet. */
interface Between {
  over(disk: FileSystem): FileSystem;
  isQuiet: boolean;
}

/**
 * Runs steps on a store with a recorded disk. Records requests and outcomes, and compares reads.
 */
export class CrashScenario {
  readonly run: Run = newRun();
  readonly #recorded: RecordedDisk;
  readonly #defect: Defect;
  #clock = new ManualClock();
  #store: Store | undefined;
  #kill = () => {};
  readonly #between: Between;
  #next = 1;
  #nextBulk = firstBulk;
  #nextLarge = firstLarge;

  constructor(
    recorded: RecordedDisk,
    defect: Defect = {},
    between: Between = { over: (disk) => disk, isQuiet: false },
  ) {
    [this.#recorded, this.#defect, this.#between] = [recorded, defect, between];
  }

  get step(): number {
    return this.#recorded.steps.length;
  }

  async live(scenarioSteps: readonly Step[]): Promise<Run> {
    await this.#start();
    for (const act of scenarioSteps) {
      await this.#do(act);
      await this.checkShown();
      if (this.run.wrong.length > 0) break;
    }
    return this.run;
  }

  /** Expects reads to show exactly the acknowledged data. */
  async checkShown(): Promise<void> {
    if (!this.#store) return;
    const { contents, wrong } = await this.#contents(this.#store);
    this.run.wrong.push(
      ...[...wrong, ...compare(contents, this.run, this.step, true).wrong].map(
        (what) => `while it runs: ${what}`,
      ),
    );
  }

  async #contents(store: Store): Promise<Awaited<ReturnType<typeof contentsOf>>> {
    this.#between.isQuiet = true;
    try {
      return await contentsOf(store);
    } finally {
      this.#between.isQuiet = false;
    }
  }

  /** Expects the store to work after the disk has recovered and the service was restarted. */
  async goOn(): Promise<string[]> {
    this.run.wrong.length = 0;
    await this.#restart('stop');
    if (!this.#store) return this.run.wrong;
    const before = this.step;
    await Promise.all([this.#change(), this.#batch()]);
    await this.checkShown();
    const { changes, batches } = this.run;
    const isGoing = [changes, batches].every(
      ({ entries }) =>
        (entries.at(-1)?.acknowledged ?? 0) >= before &&
        entries.at(-1)?.refused === Number.POSITIVE_INFINITY,
    );
    return isGoing ? this.run.wrong : [...this.run.wrong, 'it does not go on after a start'];
  }

  /** Stops the store for good. */
  async end(): Promise<void> {
    await this.#store?.close();
    this.#kill();
  }

  /** Starts the store, again if the disk failed once. */
  async #start(): Promise<void> {
    this.#clock = new ManualClock(this.#clock.now());
    this.#noteTime();
    for (let left = 3; ; left--) {
      this.run.starts.push(this.step);
      const { disk, kill } = this.#recorded.life();
      this.#kill = kill;
      try {
        this.#store = await openOn(this.#between.over(disk), this.#clock, this.#defect);
        break;
      } catch (error) {
        kill();
        if (left <= 1 || hasCode(error, 'store_damaged')) {
          this.run.wrong.push(`it does not start: ${(error as Error).message}`);
          this.#store = undefined;
          return;
        }
      }
    }
    await this.#noteShown();
  }

  async #noteShown(): Promise<void> {
    if (!this.#store) return;
    const { contents } = await this.#contents(this.#store);
    const { held, wrong } = compare(contents, this.run, this.step);
    this.run.wrong.push(...wrong.map((what) => `at a start: ${what}`));
    for (const one of ['changes', 'batches'] as const) this.run[one].shown(held[one], this.step);
    this.run.secret ??= { step: this.step, hex: Buffer.from(this.#store.secret).toString('hex') };
  }

  #noteTime(): void {
    this.run.times.push({ step: this.step, nowMs: this.#clock.now() });
  }

  #advance(byMs: number): void {
    this.#clock.advance(byMs);
    this.#noteTime();
  }

  async #do(act: Step): Promise<void> {
    if (!this.#store) return;
    const dos: Record<Step, () => Promise<void>> = {
      change: () => this.#change(),
      'large change': () => this.#change(this.#nextLarge++),
      'bulk change': () => this.#change(this.#nextBulk++),
      group: () => this.#group(),
      batch: () => this.#batch(),
      batches: () => this.#batches(),
      minute: () => this.#minute(false),
      'busy minute': () => this.#minute(true),
      'bulk minute': () => this.#bulkMinute(),
      day: async () => this.#advance(dayMs),
      drop: () => this.#drop(),
      backup: () => this.#tolerated(() => this.#backup()),
      stop: () => this.#restart('stop'),
      kill: () => this.#restart('kill'),
      'kill busy': () => this.#restart('kill busy'),
    };
    await dos[act]();
  }

  async #minute(busy: boolean): Promise<void> {
    this.#advance(minuteMs);
    if (busy)
      await Promise.all([this.#change(), this.#batch(), setImmediate().then(() => this.#group())]);
    await this.#settle();
  }

  async #bulkMinute(): Promise<void> {
    const changes = [0, 1, 2].map(() => this.#change(this.#nextBulk++));
    await changes[0];
    // The others become durable while the checkpoint writes the audit trail.
    this.#advance(minuteMs);
    await Promise.all(changes);
    await this.#settle();
  }

  async #drop(): Promise<void> {
    const beforeMs = this.#clock.now();
    this.run.dropped.push({ step: this.step, beforeMs });
    await this.#tolerated(() => (this.#store as Store).purgeBefore(beforeMs));
    await this.#settle();
  }

  /** Expects a backup to hold all that was acknowledged before it. */
  async #backup(): Promise<void> {
    const disk = new CrashDisk();
    const target = targetOn(disk, directory, this.#clock);
    await restoreDump(await (this.#store as Store).backup(), target, { isBackup: true });
    const wrong = await checkState(disk.afterPowerCut().files(), this.run, this.step, {
      ...this.#defect,
      twice: true,
    });
    this.run.wrong.push(...wrong.map((what) => `of a backup: ${what}`));
  }

  async #restart(how: 'stop' | 'kill' | 'kill busy'): Promise<void> {
    const busy = how === 'kill busy' ? [this.#change(), this.#batch(), this.#group()] : [];
    for (let turn = 0; turn < 2; turn++) await setImmediate();
    if (how === 'stop') await this.#store?.close();
    this.#kill();
    await Promise.all(busy);
    await this.#start();
  }

  #change(number = this.#next++): Promise<void> {
    const entry = this.run.changes.begin(number, this.step, this.#clock.now());
    return this.#noted(entry, makeChange(this.#store as Store, number, entry.at));
  }

  /** Makes concurrent changes that share a sync. Some must leave no trace. */
  async #group(): Promise<void> {
    const store = this.#store as Store;
    const before = this.#change();
    const none = [
      expectCode(giveUpChange(store, this.#next++, this.#clock.now()), 'given up'),
      expectCode(makeConflictingChange(store, this.#next++, this.#clock.now()), 'conflict'),
    ];
    const wrong = (await Promise.all([...none, before, this.#change()])).filter(
      (what) => typeof what === 'string',
    );
    this.run.wrong.push(...wrong);
  }

  #batch(): Promise<void> {
    const number = this.#next++;
    const entry = this.run.batches.begin(number, this.step, this.#clock.now());
    return this.#noted(entry, (this.#store as Store).appendBatch(batchNumber(number)));
  }

  /** Appends several batches, then repeats one unchanged and one changed. */
  async #batches(): Promise<void> {
    const store = this.#store as Store;
    await Promise.all([this.#batch(), this.#batch(), this.#batch()]);
    const { entries } = this.run.batches;
    const known = entries.findLast(
      ({ number, acknowledged }) => isKeyed(number) && acknowledged !== Number.POSITIVE_INFINITY,
    );
    if (!known) return;
    const again = await store.appendBatch(batchNumber(known.number));
    if (again !== 'repeated') this.run.wrong.push(`batch ${known.number}, sent again, is ${again}`);
    const reused = await expectCode(
      store.appendBatch(batchNumber(known.number, 'other bytes')),
      'idempotency_key_reused',
    );
    if (reused) this.run.wrong.push(reused);
  }

  /**
   * Records the outcome. A failing disk is answered with `unavailable`. A killed process does not
   * answer.
   */
  async #noted(
    entry: { acknowledged: number; refused: number },
    asked: Promise<unknown>,
  ): Promise<void> {
    try {
      await asked;
      entry.acknowledged = this.step;
    } catch (error) {
      entry.refused = this.step;
      if (!hasCode(error, 'unavailable'))
        this.run.wrong.push(`it is answered ${(error as Error).stack}`);
    }
  }

  /** Runs a call that a failing disk may interrupt. */
  async #tolerated(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!isOfDisk(error)) this.run.wrong.push(`it is answered ${(error as Error).stack}`);
    }
  }

  /** Waits for the end of a background checkpoint. */
  async #settle(): Promise<void> {
    for (let [before, quiet] = [-1, 0]; quiet < 4; ) {
      await setImmediate();
      quiet = before === this.step ? quiet + 1 : 0;
      before = this.step;
    }
  }
}

/** Returns whether an error or its cause comes from a failing disk. */
function isOfDisk(error: unknown): boolean {
  const { code = '', cause } = error as NodeJS.ErrnoException;
  return ['EIO', 'ENOSPC'].includes(code) || (cause !== undefined && isOfDisk(cause));
}

/** Returns a violation unless the call fails with this code or because of a failing disk. */
async function expectCode(
  call: Promise<unknown>,
  code: ErrorCode | 'given up',
): Promise<string | undefined> {
  return call.then(
    () => `what should be refused (${code}) was taken`,
    (error: Error) =>
      hasCode(error, code as ErrorCode) || hasCode(error, 'unavailable') || error.message === code
        ? undefined
        : `it is answered ${error.stack}`,
  );
}
