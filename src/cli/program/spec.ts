import type { NameKind, Setting, Values } from '../input/settings.ts';
import type { Effect } from '../input/shared.ts';
import type { CommandContext } from './context.ts';

type Form = 'one' | 'optional' | 'many' | 'some';

export interface Argument<F extends Form = Form> {
  form: F;
  help: string;
  completes?: NameKind | undefined;
  choices?: readonly string[];
}

const argument =
  <F extends Form>(form: F) =>
  (help: string, completes?: NameKind): Argument<F> => ({ form, help, completes });

/** A required argument. */
export const one = argument('one');
export const optional = argument('optional');
export const many = argument('many');
/** Zero or more arguments, at the end of a command. */
export const some = argument('some');

export type Arguments = Readonly<Record<string, Argument>>;
// biome-ignore lint/suspicious/noExplicitAny: settings of every type
export type Options = Readonly<Record<string, Setting<any>>>;

type ArgumentValue<F> = F extends 'one'
  ? string
  : F extends 'optional'
    ? string | undefined
    : readonly string[];
export type ArgumentValues<A> = {
  [K in keyof A]: A[K] extends Argument<infer F> ? ArgumentValue<F> : never;
};

/** A command: its description as plain data, and `run`. */
export interface CommandSpec<A extends Arguments = Arguments, O extends Options = Options> {
  /** One line without a full stop: `Create a venue`. */
  summary: string;
  /** More text for `--help`. Default: only the summary. */
  description?: string;
  arguments?: A;
  options?: O;
  /** Working command lines and their effects, for `--help`. */
  examples: readonly (readonly [command: string, what: string])[];
  /** Default: `reads`. */
  effect?: Effect;
  /** Whether the command lacks the connection options, because it does not call the service. */
  local?: boolean;
  /** Whether the command returns a list and takes `--limit`. */
  list?: boolean;
  /** Whether `-o html` prints the result as a page. */
  hasPage?: boolean;
  /**
   * Hints by error code, which replace the general ones. `{venue}` becomes the value of the
   * argument or option `venue`.
   */
  hints?: Readonly<Record<string, string>>;
  /** Runs the command. Returns the exit code; `undefined` means 0. Throws if the command fails. */
  run(
    call: CommandContext<ArgumentValues<A>, Values<O>>,
  ): Promise<number | undefined> | Promise<void>;
}

/** The commands of a noun, in the order of its help. */
type Verbs = Readonly<Record<string, CommandSpec>>;

/** All commands. The summaries are known without loading the files of the commands. */
export interface CommandTree {
  /** Commands of one word and their summaries. */
  single: Readonly<Record<string, string>>;
  nouns: Readonly<Record<string, string>>;
  loadSingle: Readonly<Record<string, () => Promise<CommandSpec>>>;
  loadVerbs: Readonly<Record<string, () => Promise<Verbs>>>;
}

/** Returns the command unchanged. TypeScript infers the types of its arguments and options. */
export function defineCommand<
  const A extends Arguments = Record<never, never>,
  const O extends Options = Record<never, never>,
>(spec: CommandSpec<A, O>): CommandSpec<A, O> {
  return spec;
}
