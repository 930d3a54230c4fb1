import { SignageError } from '../../domain/error.ts';
import { memoize } from '../command/memoize.ts';
import { usage } from '../options/settings.ts';
import type { CommonValues } from '../options/shared.ts';
import { escapeControl } from './escape.ts';
import type { Io } from './io.ts';

export interface Choice<T> {
  value: T;
  name: string;
  description?: string;
}

interface Question {
  /** Shown escaped, as are the names of choices. */
  message: string;
  /** What says the same without a question: `--venue`. */
  flag: string;
}

/** Asks the person at the terminal. Every question throws `usage`, naming the flag to give, where there is nobody to ask. */
export interface Prompter {
  /** Whether there is somebody to ask. */
  readonly canAsk: boolean;
  input(
    question: Question & { initial?: string; validate?(text: string): true | string },
  ): Promise<string>;
  password(question: Question): Promise<string>;
  confirm(question: Question & { initial?: boolean }): Promise<boolean>;
  select<T>(question: Question & { choices: readonly Choice<T>[] }): Promise<T>;
  /** Search as you type; `find` gets what was typed so far. */
  search<T>(
    question: Question & { find(term: string, signal: AbortSignal): Promise<readonly Choice<T>[]> },
  ): Promise<T>;
}

/** Whether this is one of those machines where nobody watches, also when they make believe that there is a terminal. */
export function isCi({ env: { CI } }: Pick<Io, 'env'>): boolean {
  return CI !== undefined && !['', '0', 'false'].includes(CI.toLowerCase());
}

/** Whether a person sits there and may be asked: at a terminal, not under `CI`, and not with `--no-input`. */
function canAsk(io: Io, { noInput }: Pick<CommonValues, 'noInput'>): boolean {
  return io.stdin.isTTY && io.stderr.isTTY && !isCi(io) && !noInput;
}

function shownChoice<T>({ value, name, description }: Choice<T>) {
  return {
    value,
    name: escapeControl(name),
    ...(description !== undefined && { description: escapeControl(description) }),
  };
}

type Prompts = typeof import('@inquirer/prompts');
interface PromptContext {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

const broken = ['ExitPromptError', 'AbortPromptError'];

/** Makes the prompter; `@inquirer/prompts` is loaded at the first question. Ctrl-C at a question, and `signal`, end it as `interrupted`. */
export function makePrompter(
  io: Io,
  common: Pick<CommonValues, 'noInput'>,
  signal: AbortSignal,
): Prompter {
  // Looked up at the first need, for that opens stdin.
  const available = memoize(() => canAsk(io, common));
  async function ask<T>(
    question: Question,
    put: (prompts: Prompts, message: string, context: PromptContext) => Promise<T>,
  ): Promise<T> {
    if (!available()) throw usage(`${question.flag} must be given: there is nobody to ask here.`);
    const prompts = await import('@inquirer/prompts');
    try {
      return await put(prompts, escapeControl(question.message), { ...io.terminal(), signal });
    } catch (error) {
      if (!broken.includes((error as Error).name)) throw error;
      throw new SignageError('interrupted', 'Interrupted at a question.');
    }
  }
  return {
    get canAsk() {
      return available();
    },
    input: (question) =>
      ask(question, ({ input }, message, context) => {
        const { initial, validate } = question;
        const options = {
          message,
          required: true,
          ...(initial !== undefined && { default: initial }),
          ...(validate && { validate }),
        };
        return input(options, context);
      }),
    password: (question) =>
      ask(question, ({ password }, message, context) => password({ message, mask: true }, context)),
    confirm: (question) =>
      ask(question, ({ confirm }, message, context) =>
        confirm({ message, default: question.initial ?? false }, context),
      ),
    select: (question) =>
      ask(question, ({ select }, message, context) =>
        select({ message, choices: question.choices.map(shownChoice) }, context),
      ),
    search: (question) =>
      ask(question, ({ search }, message, context) => {
        const source = async (term: string | undefined, { signal }: { signal: AbortSignal }) =>
          (await question.find(term ?? '', signal)).map(shownChoice);
        return search({ message, source }, context);
      }),
  };
}
