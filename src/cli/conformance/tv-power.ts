import { spawn } from 'node:child_process';
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

/**
 * Returns the power of the TV: the program of `--power-cmd`, or a person at the terminal. Returns
 * `undefined` without both.
 */
export function tvPower(
  { prompter, interrupted }: CommandContext,
  program: string | undefined,
): TvPower | undefined {
  if (program !== undefined)
    return {
      async off() {
        await runProgram(program, 'off', interrupted);
        return true;
      },
      on: () => runProgram(program, 'on', interrupted),
    };
  if (!prompter.canAsk) return undefined;
  return {
    off: () =>
      prompter.confirm({
        message: 'Pull the plug of the TV now. Is it off? (no: skip this part)',
        flag: '--power-cmd',
        initial: true,
      }),
    async on() {
      const message = 'Plug the TV in again. Is it on?';
      while (!(await prompter.confirm({ message, flag: '--power-cmd', initial: true })));
    },
  };
}
