import { SignageError } from '../../domain/error.ts';
import { escapeControl } from './escape.ts';
import type { Io } from './io.ts';
import { memoize } from './memoize.ts';

export interface Choice<T> {
  value: T;
  name: string;
  description?: string;
}

/** Whether the command line allows questions. */
interface Asking {
  noInput: boolean;
}

interface Question {
  /** Text of the question. Control characters are escaped, here and in choices. */
  message: string;
  /** The flag that answers the question: `--venue`. */
  flag: string;
}

/** Whether this runs under continuous integration, which may have a terminal but no user. */
export function isCi({ env: { CI } }: Pick<Io, 'env'>): boolean {
  return CI !== undefined && !['', '0', 'false'].includes(CI.toLowerCase());
}

/** Whether questions can be asked: at a terminal, not under `CI`, and not with `--no-input`. */
function canAsk(io: Io, { noInput }: Asking): boolean {
  return io.stdin.isTTY && io.stderr.isTTY && !isCi(io) && !noInput;
}

function shownChoice<T>({ value, name, description }: Choice<T>) {
  return {
    value,
    name: escapeControl(name),
    ...(description !== undefined && { description: escapeControl(description) }),
  };
}

/** Rows of a list question besides the choices: message, description, tip, and free rows. */
const otherRows = 8;
const defaultRows = 24;

/** Returns the number of choices that fit on the terminal. */
function pageSize(output: NodeJS.WritableStream & { rows?: number }): number {
  return Math.max(3, (output.rows || defaultRows) - otherRows);
}

interface PromptStreams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

const interruptionErrors = ['ExitPromptError', 'AbortPromptError'];

/**
 * Asks questions at the terminal. The first question loads the package that asks. Questions throw
 * `interrupted` at Ctrl-C, and when `signal` aborts. When the prompter cannot ask, each question
 * throws `usage` with its flag.
 */
export function makePrompter(io: Io, common: Asking, signal: AbortSignal) {
  // Checked on demand, because the check opens stdin.
  const available = memoize(() => canAsk(io, common));
  async function ask<T>(
    question: Question,
    prompt: (
      prompts: typeof import('@inquirer/prompts'),
      message: string,
      streams: PromptStreams,
    ) => Promise<T>,
  ): Promise<T> {
    if (!available())
      throw new SignageError('usage', `Questions cannot be asked here: give ${question.flag}.`);
    const prompts = await import('@inquirer/prompts');
    try {
      return await prompt(prompts, escapeControl(question.message), { ...io.terminal(), signal });
    } catch (error) {
      if (!interruptionErrors.includes((error as Error).name)) throw error;
      throw new SignageError('interrupted', 'Interrupted at a question.');
    }
  }
  return {
    get canAsk(): boolean {
      return available();
    },
    input: (
      question: Question & {
        initial?: string;
        canBeEmpty?: boolean;
        /** Returns what is wrong with a text, or throws it. */
        check?(text: string): string | undefined;
      },
    ): Promise<string> =>
      ask(question, ({ input }, message, context) => {
        const { initial, canBeEmpty = false, check } = question;
        const options = {
          message,
          required: !canBeEmpty,
          ...(initial !== undefined && { default: initial }),
          validate: (text: string) => {
            if (canBeEmpty && text.trim() === '') return true;
            try {
              return check?.(text) ?? true;
            } catch (error) {
              return (error as Error).message;
            }
          },
        };
        return input(options, context);
      }),
    password: (question: Question): Promise<string> =>
      ask(question, ({ password }, message, context) => password({ message, mask: true }, context)),
    confirm: (question: Question & { initial?: boolean }): Promise<boolean> =>
      ask(question, ({ confirm }, message, context) =>
        confirm({ message, default: question.initial ?? false }, context),
      ),
    /**
     * Searches while the user types. `find` gets the text typed so far. `tip` is shown below the
     * choices.
     */
    search: <T>(
      question: Question & {
        find(term: string, signal: AbortSignal): Promise<readonly Choice<T>[]>;
        tip(): string;
      },
    ): Promise<T> =>
      ask(question, ({ search }, message, context) => {
        const rows = pageSize(context.output);
        let count = 0;
        const source = async (term: string | undefined, { signal }: { signal: AbortSignal }) => {
          const choices = (await question.find(term ?? '', signal)).map(shownChoice);
          count = choices.length;
          return choices;
        };
        const keysHelpTip = () =>
          escapeControl(count > rows ? `${question.tip()} · ↑↓ scrolls` : question.tip());
        return search(
          { message, source, theme: { style: { keysHelpTip } }, pageSize: rows },
          context,
        );
      }),
  };
}

export type Prompter = ReturnType<typeof makePrompter>;
