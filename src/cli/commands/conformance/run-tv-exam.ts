import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { secondMs } from '../../../domain/clock.ts';
import { hasCode } from '../../../domain/error.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import type { TvCheckOutcome } from '../../../exam/checks/check.ts';
import type { SavedTvExam, TvExamMemory, TvPower } from '../../../exam/parts/options.ts';
import { type PartId, partIds } from '../../../exam/parts/part-ids.ts';
import type { TvExamReport } from '../../../exam/report.ts';
import { runTvExam } from '../../../exam/run-exam.ts';
import { stateFile } from '../../connection/state-file.ts';
import { type FileUse, unusableFile } from '../../input/file-error.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { didYouMean } from '../../records/near-names.ts';
import { countText } from '../../terminal/text.ts';
import { outcomeView, showFailures } from './outcome-view.ts';
import type { TvExamFlags } from './tv-options.ts';

/** Runs the program of `--power-cmd` with one word. Throws `usage` if it fails. */
function runProgram(program: string, word: 'on' | 'off', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => reject(usage(`--power-cmd: ${program} ${word} ${why}.`));
    // The output of the program must not become part of the result.
    const child = spawn(program, [word], { stdio: ['ignore', 'ignore', 'inherit'], signal });
    child.on('error', ({ message }) => failed(`could not be run: ${message}`));
    child.on('exit', (code, killedBy) => {
      if (code === 0) resolve();
      else failed(killedBy ? `was ended by ${killedBy}` : `ended with exit code ${code}`);
    });
  });
}

/** The power of the TV, switched by the program of `--power-cmd`. */
class PowerProgram implements TvPower {
  readonly #program: string;
  readonly #signal: AbortSignal;
  /**
   * The first failure of the program. The exam continues, because its other parts do not need the
   * program.
   */
  problem: unknown;

  constructor(program: string, signal: AbortSignal) {
    this.#program = program;
    this.#signal = signal;
  }

  off(): Promise<boolean> {
    return this.#run('off');
  }

  async on(): Promise<void> {
    await this.#run('on');
  }

  async #run(word: 'on' | 'off'): Promise<boolean> {
    try {
      await runProgram(this.#program, word, this.#signal);
      return true;
    } catch (error) {
      this.problem ??= error;
      return false;
    }
  }
}

/** Asks a person at the terminal to switch the TV. Ctrl-C at a question aborts `stop`. */
export function askForPower({ prompter }: CommandContext, stop: AbortController): TvPower {
  async function confirm(message: string): Promise<boolean> {
    try {
      return await prompter.confirm({ message, flag: '--power-cmd', initial: true });
    } catch (error) {
      if (!hasCode(error, 'interrupted')) throw error;
      stop.abort(error);
      return false;
    }
  }
  return {
    off: () => confirm('Pull the plug of the TV now. Is it off? (no: skip this part)'),
    async on() {
      while (!(await confirm('Plug the TV in again. Is it on?')) && !stop.signal.aborted);
    },
  };
}

const savedExamSchema = z.object({
  format: z.literal(1),
  quick: z.boolean(),
  finished: z.array(z.enum(partIds)),
  recording: z.looseObject({
    exchanges: z.array(z.looseObject({ number: z.number(), atMs: z.number(), endMs: z.number() })),
    marks: z.array(z.object({ name: z.string(), atMs: z.number() })),
    codes: z.array(z.tuple([z.string(), z.string().nullable()])),
    keys: z.array(z.string()),
  }),
});

/** Opens the folder, and creates it if needed. Throws `invalid_file` if that fails. */
async function openExamFolder(folder: string) {
  const use: FileUse = { what: '--state', code: 'invalid_file' };
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw unusableFile(error, folder, { ...use, access: 'written' });
  });
  const path = join(folder, 'exam.json');
  const file = stateFile<SavedTvExam>(path, {
    parse: (content) => savedExamSchema.parse(content),
    use,
    remedy: `To start again, delete the folder ${folder}.`,
  });
  const memory: TvExamMemory = {
    load: async () => (await file.read()) ?? undefined,
    save: file.write,
  };
  return { store: join(folder, 'data'), memory };
}

/** Explains the outcome of a failed or skipped check. */
function note({ result, expected, seen, advice }: TvCheckOutcome): string | null {
  if (result === 'fail') return `Expected: ${expected}. Seen: ${seen} ${advice}`;
  return result === 'skip' ? seen : null;
}

const texts = { note, last: 'advice', groupParts: 2 } as const;

async function readParts(parts: readonly string[]): Promise<readonly PartId[] | undefined> {
  for (const part of parts) {
    if ((partIds as readonly string[]).includes(part)) continue;
    const known = partIds.slice(1).join(', ');
    throw usage(`--part must be one of ${known}, not "${part}".`, await didYouMean(part, partIds));
  }
  return parts.length === 0 ? undefined : (parts as readonly PartId[]);
}

/** Formats a time span as minutes and seconds: `7:05`. */
function elapsed(spanMs: number): string {
  const seconds = Math.floor(spanMs / secondMs);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Returns the URL for the TV. Replaces a wildcard address by an IPv4 address of this machine. */
function urlForTv(url: string): string {
  const shown = new URL(url);
  if (!['0.0.0.0', '[::]'].includes(shown.hostname)) return url;
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const outer = addresses.find(({ internal, family }) => !internal && family === 'IPv4');
  shown.hostname = outer?.address ?? '127.0.0.1';
  return shown.origin;
}

function showSummary(call: CommandContext, { summary, strangers }: TvExamReport): void {
  if (strangers > 0) call.note(`Ignored ${countText(strangers, 'request')} of other devices.`);
  call.note(summary);
}

/**
 * Prints the rows. A terminal is too narrow for the table, so by default it gets only the failed
 * rows, in full, and the number of the others.
 */
async function showOutcomes(call: CommandContext, { checks }: TvExamReport): Promise<void> {
  const { output, fields, jq, quiet } = call.common;
  const textOf = (check: TvCheckOutcome) => `${check.title}. ${note(check)}`;
  const isDefault = (output ?? fields ?? jq) === undefined && !quiet;
  if (call.io.stdout.isTTY && isDefault) {
    showFailures(call, checks, textOf);
    const others = checks.filter(({ result }) => result !== 'fail').length;
    return call.note(`${countText(others, 'other row')} did not fail: -o table lists all rows.`);
  }
  await call.results.list([checks], outcomeView(output, texts));
  showFailures(call, checks, textOf);
}

/** Runs `signage conformance --tv`. Returns the exit code. */
export async function runTvExamCommand(
  call: CommandContext,
  options: TvExamFlags,
): Promise<number> {
  const { io, clock, random, interrupted } = call;
  const { speed: pace = 1, quick, maxMinutes } = options;
  if (!Number.isFinite(pace)) throw usage('The exam does not support --speed max. Use a number.');
  const folder = options.state === undefined ? undefined : await openExamFolder(options.state);
  const program =
    options.powerCmd === undefined ? undefined : new PowerProgram(options.powerCmd, interrupted);
  const questionLeft = new AbortController();
  const startMs = clock.now();
  const report = await runTvExam({
    ...options.listen,
    ...folder,
    parts: await readParts(options.part),
    quick,
    pace,
    maxMinutes,
    power: program ?? (call.prompter.canAsk ? askForPower(call, questionLeft) : undefined),
    onCode: (code, url) =>
      io.stderr.write(
        `Enter the pairing code ${groupedCode(code)} on the TV.\nService address for the TV: ${urlForTv(url)}\n`,
      ),
    onStep: ({ part, text }) =>
      call.note(`${elapsed(clock.now() - startMs)} ${part}: The TV ${text}.`),
    onRefused: ({ operation, status, code }) =>
      call.note(
        `${elapsed(clock.now() - startMs)} The service refused ${operation} of the TV: ${[status, code].join(' ').trim()}.`,
      ),
    signal: AbortSignal.any([interrupted, questionLeft.signal]),
    clock,
    random,
  });
  if (report.shortcoming !== undefined) call.note(report.shortcoming);
  await showOutcomes(call, report);
  showSummary(call, report);
  questionLeft.signal.throwIfAborted();
  if (report.isInterrupted) return Number(interrupted.reason);
  if (program?.problem) throw program.problem;
  return report.isPassed ? 0 : failedExitCode;
}
