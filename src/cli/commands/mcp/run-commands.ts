import type { Flags } from '../../input/settings.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext, CommandHooks } from '../../program/context.ts';
import { runSpec } from '../../program/run.ts';
import { type CommandSpec, type CommandTree, defineCommand } from '../../program/spec.ts';
import type { Io, Output } from '../../terminal/io.ts';
import { checkAddress } from './asked-addresses.ts';

/** A command line in parts, which no value can turn into an option. */
export interface CommandCall {
  /** The words of the command: `['playlist', 'get']`. */
  words: readonly [string, string?];
  /** The arguments in the order of the command. A variadic one is a list. */
  given?: readonly unknown[];
  flags?: Flags;
  stdin?: string;
}

export interface CommandResult {
  /** The result as JSON. `undefined`: the command printed none. */
  value: unknown;
  /** What the command printed. */
  text: string;
  /** Messages for people, one a line. */
  notes: string[];
  exitCode: number;
}

/** How a command runs, besides what the connection says. */
export interface RunOptions extends CommandHooks {
  signal: AbortSignal;
  /** Gets what the command prints, which is then not kept. For commands that run on. */
  onOutput?(text: string): void;
}

/** Whose rights the tools have. */
export interface Credentials {
  env: Io['env'];
  flags: Flags;
}

/** Where the tools get their rights. */
export interface CredentialSource {
  credentials(): Promise<Credentials>;
  /** Returns the error to throw in place of one that a command with these credentials threw. */
  explained?(error: unknown, used: Promise<Credentials>): unknown;
}

/** Variables that choose a service or a token. */
const connectionVariables = /^SIGNAGE_(?:URL|TOKEN|TOKEN_FILE|CONTEXT|TENANT|CA_FILE|NO_INPUT)$/;

/** Returns the variables that do not choose a service or a token. */
export const ownEnvironment = ({ env }: Pick<Io, 'env'>): Io['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !connectionVariables.test(name)));

function collector(onOutput?: RunOptions['onOutput']): Output & { text(): string } {
  let text = '';
  const keep = (more: string) => {
    text += more;
  };
  return {
    isTTY: false,
    write: (more) => (onOutput ?? keep)(Buffer.from(more as Uint8Array).toString()),
    text: () => text,
  };
}

/** Runs commands in this process, without a terminal, with the rights that the tools may have. */
export class CommandRunner {
  readonly #call: CommandContext;
  readonly #tree: CommandTree;
  readonly #source: CredentialSource;

  /** @param call the context of `signage mcp`, whose token may be stronger */
  constructor(call: CommandContext, tree: CommandTree, source: CredentialSource) {
    this.#call = call;
    this.#tree = tree;
    this.#source = source;
  }

  /** Loads a command of the tree. */
  async specOf([first, verb]: CommandCall['words']): Promise<CommandSpec> {
    const spec =
      verb === undefined
        ? await this.#tree.loadSingle[first]?.()
        : (await this.#tree.loadVerbs[first]?.())?.[verb];
    if (!spec) throw new Error(`There is no command ${first} ${verb ?? ''}`);
    return spec;
  }

  /** Runs a command, and returns what it printed. Throws the error of a command that fails. */
  async run(command: CommandCall, options: RunOptions): Promise<CommandResult> {
    return this.#run(await this.specOf(command.words), command, options);
  }

  /** Calls a function with the context of a command, for what no command prints. */
  async within<T>(
    work: (call: CommandContext) => Promise<T>,
    flags: Flags,
    options: RunOptions,
  ): Promise<T> {
    let result: { value: T } | undefined;
    const spec = defineCommand({
      summary: 'Work of a tool',
      examples: [],
      async run(call: CommandContext) {
        result = { value: await work({ ...call, options: flags }) };
      },
    });
    await this.#run(spec, {}, options);
    if (!result) throw new Error('The work was not done.');
    return result.value;
  }

  async #run(
    spec: CommandSpec,
    { given = [], flags = {}, stdin = '' }: Omit<CommandCall, 'words'>,
    { signal, onOutput, ...hooks }: RunOptions,
  ): Promise<CommandResult> {
    const used = this.#source.credentials();
    const { env, flags: connection } = await used;
    const { io, clock, random, interrupted } = this.#call;
    const [stdout, stderr] = [collector(onOutput), collector()];
    const quietIo: Io = {
      env,
      program: io.program,
      stdout,
      stderr,
      stdin: { isTTY: false, bytes: async () => Buffer.from(stdin) },
      terminal() {
        throw usage('Questions cannot be asked here.');
      },
      onSignal: () => () => {},
      interrupt() {},
    };
    const environment = {
      io: quietIo,
      clock,
      random,
      interrupted: AbortSignal.any([interrupted, signal]),
      heedHangup() {},
    };
    const all = { output: 'json', ...flags, ...connection };
    const exitCode = await runSpec(spec, { given, flags: all }, environment, {
      checkAddress,
      ...hooks,
    }).catch((error: unknown) => {
      throw this.#source.explained?.(error, used) ?? error;
    });
    const text = stdout.text();
    const value = all.output === 'json' && text !== '' ? JSON.parse(text) : undefined;
    const notes = stderr.text().split('\n').filter(Boolean);
    return { value, text, notes, exitCode };
  }
}
