import { spawn } from 'node:child_process';
import { hasCode } from '../../domain/error.ts';
import type { TvPower } from '../../exam/options.ts';
import type { CommandContext } from '../command/context.ts';
import { usage } from '../options/settings.ts';

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
export class PowerProgram implements TvPower {
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
