import { SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import type { CommandContext } from '../command/context.ts';
import { readCode, readCodeWords } from '../options/pairing-code.ts';
import { usage } from '../options/settings.ts';
import { type TvLogEntry, unpairedWords } from './tv-log.ts';
import type { TvOptions } from './tv-options.ts';

/** Returns the next pairing code for the TV, or `undefined` if there is none. */
export type CodeSource = (
  why: UnpairedReason,
  error: SignageError | undefined,
) => Promise<string | undefined>;

/** Says what is wrong with a pairing code. */
export function codeProblem(text: string): string | undefined {
  try {
    readCode(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Returns a source of codes: first the code of `--code`, then codes typed at the terminal. Without
 * a terminal, the code of `--code` is the only one.
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

/** Number of failed attempts after which a TV that was never paired gives up. */
const maxAttempts = 3;

const transientCodes = ['unreachable', 'unavailable', 'internal_error'];
const isRejection = ({ code, status }: SignageError) =>
  code.startsWith('pairing_code_') || status === 400;

/** Aborts a TV that cannot be paired. A real TV would retry forever, but here a person waits. */
export class PairingWatch {
  readonly #hardStop: AbortController;
  #isPaired: boolean;
  #attempts = 0;
  /** The error that prevented pairing. */
  fatal: unknown;

  constructor(isPaired: boolean, hardStop: AbortController) {
    this.#isPaired = isPaired;
    this.#hardStop = hardStop;
  }

  handle(entry: TvLogEntry): void {
    if (entry.what === 'bound') this.#isPaired = true;
    if (entry.what !== 'failure' || this.#isPaired) return;
    const { error } = entry;
    if (error instanceof SignageError && isRejection(error)) return;
    if (
      error instanceof SignageError &&
      transientCodes.includes(error.code) &&
      ++this.#attempts < maxAttempts
    )
      return;
    this.fatal ??= error;
    this.#hardStop.abort();
  }
}
