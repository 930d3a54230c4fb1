import { setMaxListeners } from 'node:events';
import { pause } from '../../../client/pause.ts';
import type { PartId } from '../../../exam/parts/part-ids.ts';
import type { TvExamReport } from '../../../exam/report.ts';
import { runTvExam } from '../../../exam/run-exam.ts';
import { type Running, serve } from '../../../serve.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import type { CommandTree } from '../../program/spec.ts';
import { CommandRunner, ownEnvironment } from './run-commands.ts';
import { errorText } from './tool-results.ts';

const maxTvs = 10;
/** Number of the last steps of an exam, and of the last entries of the log of a TV. */
const shownEntries = 10;

/** Something that runs until it ends or is stopped. */
interface Job {
  stop(): void;
  isRunning(): boolean;
  ended: Promise<void>;
  /** What is known of it now. */
  shown(): object;
}

/** Starts work that shows its end or its error in place of `running`. */
function startJob<T>(
  work: (signal: AbortSignal) => Promise<T>,
  shownOf: (result: T | undefined) => object,
): Job {
  const stopping = new AbortController();
  // An exam adds a listener for each wait.
  setMaxListeners(0, stopping.signal);
  let state: 'running' | 'ended' | 'failed' = 'running';
  let result: T | undefined;
  let problem: object | undefined;
  const ended = work(stopping.signal).then(
    (value) => {
      state = 'ended';
      result = value;
    },
    (error: unknown) => {
      state = 'failed';
      problem = errorText(error);
    },
  );
  return {
    // The reason is the exit code of SIGINT.
    stop: () => stopping.abort(130),
    isRunning: () => state === 'running',
    ended,
    shown: () => ({ state, ...shownOf(result), ...(problem && { problem }) }),
  };
}

/** The failed rows of an exam, with the advice of each. */
const judged = ({ checks, summary, isPassed, shortcoming }: TvExamReport) => ({
  summary,
  isPassed,
  shortcoming,
  failed: checks
    .filter(({ result }) => result === 'fail')
    .map(({ applies: _, result: __, ...row }) => row),
});

/** The local service, TVs and exam of one run. All of them listen on this machine only. */
export class Workbench {
  readonly #call: CommandContext;
  readonly #tree: CommandTree;
  #starting: Promise<Running> | undefined;
  #service: Running | undefined;
  #faults: readonly string[] = [];
  readonly #tvs = new Map<string, Job>();
  #exam: Job | undefined;
  /** Where a TV finds the exam. The code changes when the exam has revoked the TV. */
  #offer: { url: string; code: string } | undefined;
  /** Runs commands of management against the local service. */
  readonly runner: CommandRunner;

  constructor(call: CommandContext, tree: CommandTree) {
    this.#call = call;
    this.#tree = tree;
    this.runner = new CommandRunner(call, tree, {
      credentials: async () => {
        const { url, adminToken } = this.#requireService();
        const own = { SIGNAGE_URL: url, SIGNAGE_TOKEN: adminToken };
        return { env: { ...ownEnvironment(call.io), ...own }, flags: {} };
      },
    });
  }

  #requireService(): Running {
    if (this.#service) return this.#service;
    throw usage('No local service runs.', 'Call start_service first.');
  }

  /** Starts the service, or replaces the faults of the one that runs. */
  async startService({ faults, port = 0 }: { faults?: string[]; port?: number }): Promise<void> {
    const rules = faults ?? this.#faults;
    const { clock, random } = this.#call;
    this.#starting ??= serve({
      ...{ port, clock, random, faults: rules },
      ...{ store: 'memory:', demo: true, codeTtlMinutes: 60 },
    }).catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    this.#service = await this.#starting;
    this.#service.setFaults(rules);
    this.#faults = rules;
  }

  /** Makes a pairing code. Default of `name`: the first screen without a TV. */
  code(name: string | undefined, signal: AbortSignal) {
    const work = async (call: CommandContext) => {
      const screens = await call.all('listScreens');
      const free = screens.find(({ deviceId }) => deviceId === null);
      const place = name ?? free?.id;
      if (place === undefined) throw usage('Each screen has a TV.', 'Stop a TV, or name a screen.');
      const { value } = await this.runner.run(
        { words: ['code', 'create'], given: [[place]] },
        { signal },
      );
      return value as { code: string; screenId: string };
    };
    return this.runner.within(work, {}, { signal });
  }

  /** Starts a TV on a screen of the service, or in the exam. Returns its id. */
  async startTv(
    { screen, exam, speed: pace = 1 }: { screen?: string; exam?: boolean; speed?: number },
    signal: AbortSignal,
  ): Promise<string> {
    if (this.#tvs.size >= maxTvs) throw usage(`There are ${maxTvs} TVs.`, 'Call stop first.');
    if (exam && !this.#offer) throw usage('No exam runs.', 'Call start_exam first.');
    const { url } = (exam && this.#offer) || this.#requireService();
    const { code } = (exam && this.#offer) || (await this.code(screen, signal));
    const id = `tv-${this.#tvs.size + 1}`;
    const entries: unknown[] = [];
    const onOutput = (text: string) => {
      for (const line of text.split('\n').filter(Boolean)) entries.push(JSON.parse(line));
      entries.splice(0, entries.length - shownEntries);
    };
    // A TV needs no token.
    const credentials = async () => ({ env: ownEnvironment(this.#call.io), flags: {} });
    const runner = new CommandRunner(this.#call, this.#tree, { credentials });
    const flags = { url, code, output: 'ndjson', ...(pace !== 1 && { speed: pace }) };
    const job = startJob(
      (stopping) => runner.run({ words: ['tv'], flags }, { signal: stopping, onOutput }),
      () => ({ url, log: [...entries] }),
    );
    this.#tvs.set(id, job);
    return id;
  }

  /** Starts an exam. Resolves with the address and the code for the TV. */
  async startExam(options: { full?: boolean; parts?: PartId[]; speed?: number }) {
    const { full = false, parts, speed: pace = 1 } = options;
    if (this.#exam?.isRunning()) throw usage('An exam runs.', 'Call stop with exam first.');
    const { clock, random } = this.#call;
    const steps: string[] = [];
    let offered = () => {};
    const firstOffer = new Promise<void>((resolve) => {
      offered = resolve;
    });
    const exam = startJob(
      (signal) =>
        runTvExam({
          ...{ quick: !full, parts, pace, signal, clock, random },
          onCode: (code, url) => {
            this.#offer = { url, code };
            steps.push(`The code for the TV is ${code}.`);
            offered();
          },
          onStep: ({ part, text }) => void steps.push(`${part}: The TV ${text}.`),
          onRefused: ({ operation, status, code }) =>
            void steps.push(`The service refused ${operation}: ${status} ${code ?? ''}`.trim()),
        }),
      (report) => ({
        ...this.#offer,
        steps: steps.slice(-shownEntries),
        ...(report && judged(report)),
      }),
    );
    this.#exam = exam;
    await Promise.race([firstOffer, exam.ended]);
    return exam.shown();
  }

  /** Waits until the exam, or without one each TV, has ended. */
  async wait(waitMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const jobs = this.#exam ? [this.#exam] : [...this.#tvs.values()];
    const ended = Promise.all(jobs.map((job) => job.ended)).then(() => over.abort());
    await Promise.race([
      ended,
      pause(this.#call.clock, waitMs, AbortSignal.any([signal, over.signal])),
    ]);
  }

  shown() {
    const tvs = [...this.#tvs].map(([id, job]) => ({ id, ...job.shown() }));
    const service = this.#service && { url: this.#service.url, faults: this.#faults };
    return { service: service ?? null, tvs, exam: this.#exam?.shown() ?? null };
  }

  /** Stops everything of a kind. */
  async stop(what: 'service' | 'tvs' | 'exam' | 'all'): Promise<void> {
    const isMeant = (kind: string) => what === kind || what === 'all';
    const jobs = [
      ...(isMeant('tvs') ? this.#tvs.values() : []),
      ...(isMeant('exam') && this.#exam ? [this.#exam] : []),
    ];
    for (const job of jobs) job.stop();
    await Promise.all(jobs.map(({ ended }) => ended));
    if (isMeant('tvs')) this.#tvs.clear();
    if (!isMeant('service')) return;
    await this.#service?.close({ force: true });
    this.#service = undefined;
    this.#starting = undefined;
    this.#faults = [];
  }
}
