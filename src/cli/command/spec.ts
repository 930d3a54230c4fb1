import type { OperationId } from '../../wire/operations.ts';
import type { NameKind } from '../options/name-kind.ts';
import type { DescribedSetting, Setting, Values } from '../options/settings.ts';
import type { Effect } from '../options/shared.ts';
import type { CommandContext } from './context.ts';

type Form = 'one' | 'optional' | 'many' | 'some';

/** One argument of a command. */
export interface Argument<F extends Form = Form> {
  form: F;
  help: string;
  completes?: NameKind | undefined;
}

/** An argument that must be given. */
export const one = (help: string, completes?: NameKind): Argument<'one'> => ({
  form: 'one',
  help,
  completes,
});
/** An argument that may be left out. */
export const optional = (help: string, completes?: NameKind): Argument<'optional'> => ({
  form: 'optional',
  help,
  completes,
});
/** Any number of arguments, at least one; the last of a command. */
export const many = (help: string, completes?: NameKind): Argument<'many'> => ({
  form: 'many',
  help,
  completes,
});
/** Any number of arguments, none included; the last of a command. */
export const some = (help: string, completes?: NameKind): Argument<'some'> => ({
  form: 'some',
  help,
  completes,
});

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

/** One command, as plain data and what it does. */
export interface CommandSpec<A extends Arguments = Arguments, O extends Options = Options> {
  /** One line without a full stop: `Make a venue`. */
  summary: string;
  /** What there is to say beyond that, in `--help`. */
  description?: string;
  arguments?: A;
  options?: O;
  /** Command lines that work, and what they do; shown by `--help`. */
  examples: readonly (readonly [command: string, what: string])[];
  /** The operations that it is the command of: those whose `command` in `wire/operations.ts` names it. */
  operation?: OperationId | readonly OperationId[];
  effect: Effect;
  /** Never talks to the service, and has no options for that. */
  local?: boolean;
  /** Its result is a file, and has no form to choose. */
  raw?: boolean;
  /** Answers a list, and takes `--limit`. */
  list?: boolean;
  /** What to type next after an error of this code, in place of the general hint; `{venue}` stands for the argument or option of that name. */
  hints?: Readonly<Record<string, string>>;
  /** Does it; answers the exit code, 0 unless said. Errors are thrown. */
  run(
    call: CommandContext<ArgumentValues<A>, Values<O>>,
  ): Promise<number | undefined> | Promise<void>;
}

/** What a command says of itself in help; it can be written down as JSON. */
export type Description = Omit<CommandSpec, 'options' | 'run'> & {
  options?: Readonly<Record<string, DescribedSetting>>;
};

/** Says that this is a command, and lets TypeScript work out the types of its arguments and options. */
export function defineCommand<
  const A extends Arguments = Record<never, never>,
  const O extends Options = Record<never, never>,
>(spec: CommandSpec<A, O>): CommandSpec<A, O> {
  return spec;
}
