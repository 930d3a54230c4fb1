import type { SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../simulator/player/observer.ts';
import type { CommandContext } from '../command/context.ts';
import { readCode, readCodeWords } from '../options/pairing-code.ts';
import { usage } from '../options/settings.ts';
import type { TvOptions } from './tv-options.ts';
import { unpairedWords } from './tv-words.ts';

/** Where the pairing codes of the TV come from. */
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

/** First the code that was given, then those that the person at the terminal types; none where there is nobody. */
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

/** A TV that is not paired, and nobody to ask. */
export function needCode(): SignageError {
  return usage(
    '--code must be given: this TV is not paired, and there is nobody to ask here.',
    'Create a code: signage code create, or signage pair.',
  );
}
