import { setMaxListeners } from 'node:events';
import { type Clock, systemClock, systemRandom } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import { Faults, fractionsOf } from '../faults/faults.ts';
import { parseServiceFault } from '../faults/parse-fault.ts';
import type { Listening } from '../network/listen.ts';
import { checkOptions } from '../options/check-options.ts';
import {
  type CertainFailure,
  flood,
  mistakeOf,
  patienceMinutes,
  tooLate,
} from './certain-failure.ts';
import { examRules } from './option-rules.ts';
import { changes } from './parts/changes.ts';
import { config } from './parts/config.ts';
import { events } from './parts/events.ts';
import { ExamService } from './parts/exam-service.ts';
import { network } from './parts/network.ts';
import { maxMinutesOf, type Timing, type TvExamOptions, timingOf } from './parts/options.ts';
import { Exam, type ExamPart } from './parts/part.ts';
import type { PartId } from './parts/part-ids.ts';
import { playlist } from './parts/playlist.ts';
import { power } from './parts/power.ts';
import { register } from './parts/register.ts';
import { revoke } from './parts/revoke.ts';
import { ExamInterrupted, isGood } from './parts/waits.ts';
import { makeReport, type TvExamReport } from './report.ts';
import { fingerprint, type TvExchange, type TvRequest } from './wire/exchange.ts';
import { openFront } from './wire/front.ts';
import { Preparations } from './wire/preparations.ts';
import { maxExchanges, Recording, type SavedRecording } from './wire/recording.ts';

/** Parts after the registration. The parts of a round run concurrently. */
const rounds: readonly (readonly ExamPart[])[] = [
  [playlist, config, events, changes, network],
  [power],
  [revoke],
];

/** Maximum hold of a request for changes, in seconds of TV time. */
const holdTvSeconds = 25;

/**
 * Statuses of rejections that the exam itself causes: no key, no playlist, too many codes. 499 says
 * that the TV closed its connection.
 */
const wantedStatuses = [401, 404, 429, 499];

/** Returns a function that reports the first rejection of each kind. */
function refusalsOf({ onRefused }: TvExamOptions): (exchange: TvExchange) => void {
  const reported = new Set<string>();
  return ({ operation = 'an unknown operation', answer, fault }) => {
    const { status = 0, code } = answer ?? {};
    const kind = `${operation} ${status} ${code}`;
    if (fault !== undefined || status < 400 || wantedStatuses.includes(status)) return;
    if (!reported.has(kind)) onRefused?.({ operation, status, code });
    reported.add(kind);
  };
}

/** One run of an exam: the service, the recording, and the finished parts. */
class ExamRun {
  readonly #options: TvExamOptions;
  readonly #timing: Timing;
  readonly #recording: Recording;
  readonly #faults = new Faults<TvRequest>([], fractionsOf(systemRandom));
  readonly #preparations = new Preparations();
  readonly #clock: Clock;
  readonly #codes: string[] = [];
  readonly #finished = new Set<PartId>();
  readonly #interruption = new AbortController();
  /** Why the exam ended before its last part. */
  #endedBy: CertainFailure | undefined;

  constructor(options: TvExamOptions) {
    this.#options = options;
    this.#timing = timingOf(options);
    this.#clock = options.clock ?? systemClock;
    this.#recording = new Recording(this.#clock, refusalsOf(options));
    // Removes the limit on listeners, because each wait of a part adds a listener.
    setMaxListeners(0, this.#interruption.signal);
  }

  async run(): Promise<TvExamReport> {
    const { signal, store = 'memory:', random = systemRandom } = this.#options;
    await this.#load();
    const interrupt = () => this.#interruption.abort();
    signal?.addEventListener('abort', interrupt);
    if (signal?.aborted) interrupt();
    try {
      const service = await ExamService.start(store, { clock: this.#clock, random });
      try {
        await this.#serve(service);
      } finally {
        await service.close();
      }
    } catch (error) {
      if (!(error instanceof ExamInterrupted)) throw error;
    } finally {
      signal?.removeEventListener('abort', interrupt);
    }
    return this.#report();
  }

  async #load(): Promise<void> {
    const saved = await this.#options.memory?.load();
    if (!saved) return;
    if (saved.quick !== (this.#options.quick === true))
      throw new SignageError(
        'invalid_option',
        `The saved exam is a ${saved.quick ? 'quick' : 'full'} exam. Resume it with the same kind, or start a new exam.`,
      );
    this.#recording.load(saved.recording as SavedRecording);
    for (const part of saved.finished) this.#finished.add(part);
    this.#recording.mark('resumed');
  }

  async #save(): Promise<void> {
    await this.#options.memory?.save({
      format: 1,
      quick: this.#options.quick === true,
      finished: [...this.#finished],
      recording: this.#recording.save(),
    });
  }

  /** Opens the port for the TV and runs the unfinished parts. */
  async #serve(service: ExamService): Promise<void> {
    const { host = '127.0.0.1', port = 0 } = this.#options;
    const front = await openFront({
      host,
      port,
      service: service.running,
      recording: this.#recording,
      faults: this.#faults,
      preparations: this.#preparations,
      codes: this.#codes,
      holdSeconds: Math.max(1, Math.floor(holdTvSeconds / this.#timing.pace)),
      clock: this.#clock,
    });
    const { minuteMs } = this.#timing;
    let stopEnding: readonly (() => void)[] = [
      this.#recording.onChange(() => {
        if (this.#recording.ofTv.length >= maxExchanges) this.#endBy(flood);
      }),
    ];
    try {
      // A TV may rotate its key at any time. The answer to its first rotation is lost.
      this.#faults.add(parseServiceFault('lost-answer:rotate first 1'), { id: 'rotation.lost' });
      await this.#runPart(register, service, front);
      stopEnding = [
        ...stopEnding,
        this.#clock.after(patienceMinutes * minuteMs, () =>
          this.#endBy(mistakeOf(this.#recording.ofTv, (part) => this.#isChosen(part))),
        ),
        this.#clock.after(maxMinutesOf(this.#options) * minuteMs, () =>
          this.#endBy(tooLate(this.#options)),
        ),
      ];
      for (const round of rounds) {
        const isDue = round.some((part) => this.#isDue(part));
        if (isDue && !(await this.#isPaired(service, front))) return;
        await Promise.all(round.map((part) => this.#runPart(part, service, front)));
      }
    } finally {
      for (const stop of stopEnding) stop();
      await front.close();
    }
  }

  /** Ends the exam if the TV has certainly failed. Its parts may wait very long for such a TV. */
  #endBy(failure: CertainFailure | undefined): void {
    if (!failure || this.#interruption.signal.aborted) return;
    this.#endedBy = failure;
    const { part = 'register', text } = failure;
    this.#options.onStep?.({ part, text: `${text}, so the exam ends` });
    this.#interruption.abort();
  }

  /** Returns whether the TV has a key. Shows a new code if the TV has lost its key. */
  async #isPaired(service: ExamService, front: Listening): Promise<boolean> {
    const hasRegistered = this.#recording.ofTv.some(
      (one) => one.operation === 'registerDevice' && isGood(one),
    );
    return hasRegistered && this.#examOf('register', service, front).repair();
  }

  /** Returns whether a part was chosen and is unfinished. */
  #isDue({ id }: ExamPart): boolean {
    return this.#isChosen(id) && !this.#finished.has(id);
  }

  #isChosen(part: PartId): boolean {
    const { parts } = this.#options;
    return part === 'register' || (parts?.includes(part) ?? true);
  }

  async #runPart(part: ExamPart, service: ExamService, front: Listening): Promise<void> {
    if (this.#isDue(part)) {
      await part.run(this.#examOf(part.id, service, front));
      this.#finished.add(part.id);
      await this.#save();
    }
    this.#recording.mark(`${part.id} over`);
  }

  #examOf(part: PartId, service: ExamService, { url }: Listening): Exam {
    return new Exam(part, {
      service,
      recording: this.#recording,
      faults: this.#faults,
      preparations: this.#preparations,
      timing: this.#timing,
      clock: this.#clock,
      signal: this.#interruption.signal,
      power: this.#options.power,
      url,
      options: this.#options,
      addCode: (code) => {
        this.#codes.push(code);
        this.#recording.addCode(fingerprint(code));
      },
    });
  }

  #report(): Promise<TvExamReport> {
    const { signal, parts, quick } = this.#options;
    const isInterrupted = this.#interruption.signal.aborted && !this.#endedBy;
    const exam = {
      exchanges: this.#recording.ofTv,
      marks: this.#recording.marks,
      timing: this.#timing,
      isQuick: quick === true,
      strangers: this.#recording.strangers,
      isInterrupted,
      endedBy: this.#endedBy,
      finished: [...this.#finished],
      parts,
    };
    // A signal that ended the exam does not end the judging of what was recorded.
    return makeReport(exam, isInterrupted ? undefined : signal);
  }
}

/**
 * Starts a service for one TV, puts the TV through the parts of the exam, and judges the TV.
 * Resolves with the report, also when the signal aborts. Throws `port_taken` and `invalid_option`.
 *
 * @example
 * const report = await runTvExam({ quick: true, onCode: (code, url) => enter(code, url) });
 * if (!report.isPassed) process.exitCode = 9;
 */
export async function runTvExam(options: TvExamOptions): Promise<TvExamReport> {
  checkOptions(examRules, options);
  return new ExamRun(options).run();
}
