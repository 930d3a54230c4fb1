import type { SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../simulator/player/observer.ts';
import type { CommandContext } from '../command/context.ts';
import { readCode, readCodeWords } from '../options/pairing-code.ts';
import { usage } from '../options/settings.ts';
import type { TvOptions } from './tv-options.ts';
import { unpairedWords } from './tv-words.ts';

/** Provides pairing codes for the TV, or `undefined` if there are no more. */
export type CodeSource = (
  why: UnpairedReason,
  error: SignageError | undefined,
) => Promise<string | undefined>;

function codeProblem(text: string): string | undefined {
  try {
    readCode(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Returns first the code of `--code`, then codes typed at the terminal. Without a terminal, there
 * is only the first.
 */
export async function codeSource(
  { io, prompter }: CommandContext,
  options: TvOptions,
  suspend: <T>(ask: () => Promise<T>) => Promise<T>,
): Promise<CodeSource> {
  let given = options.code === undefined ? undefined : await readCodeWords(io, [options.code]);
  return async (why, error) => {
    const first = given;
    given = undefined;
    if (first !== undefined || !prompter.canAsk) return first;
    const message = `${error ? error.message : unpairedWords[why]} Pairing code:`;
    return suspend(async () =>
      readCode(
        await prompter.input({
          message,
          flag: '--code',
          validate: (text) => codeProblem(text) ?? true,
        }),
      ),
    );
  };
}

/** The error for an unpaired TV without a terminal to ask for a code. */
export function needCode(): SignageError {
  return usage(
    'This TV is not paired. Give a pairing code with --code.',
    'Create a code: signage code create, or signage pair.',
  );
}
