import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { CallAnswer } from '../../../client/call.ts';
import { hourMs } from '../../../domain/clock.ts';
import type { Flags } from '../../input/settings.ts';
import { usage } from '../../input/settings.ts';
import type { CommandContext, CommandHooks } from '../../program/context.ts';
import { runSpec } from '../../program/run.ts';
import { type CommandSpec, type CommandTree, defineCommand } from '../../program/spec.ts';
import { findVenue } from '../../records/find.ts';
import type { Io, Output } from '../../terminal/io.ts';
import { mayExamine } from './asked-addresses.ts';

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
}

/** Time after which the token of a run expires, if nothing deletes it. */
const tokenLifeMs = 12 * hourMs;
const strongRoles: readonly string[] = ['admin', 'platform'];
/** Variables that choose a service or a token. */
const connectionVariables = /^SIGNAGE_(?:URL|TOKEN|TOKEN_FILE|CONTEXT|TENANT|CA_FILE|NO_INPUT)$/;

/** Whose rights the tools have. */
interface Credentials {
  env: Io['env'];
  flags: Flags;
  me: CallAnswer<'getMe'>;
}

function collector(): Output & { text(): string } {
  let text = '';
  return {
    isTTY: false,
    write(more) {
      text += typeof more === 'string' ? more : Buffer.from(more).toString();
    },
    text: () => text,
  };
}

/** Runs commands in this process, without a terminal, with the rights that the tools may have. */
export class CommandRunner {
  readonly #call: CommandContext;
  readonly #tree: CommandTree;
  #credentials: Promise<Credentials> | undefined;
  #ownTokenId: string | undefined;

  /** @param call the context of `signage mcp`, whose token may be stronger */
  constructor(call: CommandContext, tree: CommandTree) {
    this.#call = call;
    this.#tree = tree;
  }

  /** Deletes the token of this run. */
  async close(): Promise<void> {
    await this.#credentials?.catch(() => {});
    const id = this.#ownTokenId;
    if (id === undefined) return;
    // The signal that ended the command must not prevent it.
    const { signal } = new AbortController();
    await this.#call.change('deleteToken', { params: { id }, signal });
  }

  /** Returns the token that the tools use. Creates it at the first call. */
  credentials(): Promise<Credentials> {
    this.#credentials ??= this.#connect().catch((error: unknown) => {
      this.#credentials = undefined;
      throw error;
    });
    return this.#credentials;
  }

  async #connect(): Promise<Credentials> {
    const { io, options } = this.#call;
    const { url, token, tenant, caFile, insecureHttp } = await this.#call.profile();
    const me = await this.#call.read('getMe');
    const isStrong = strongRoles.includes(me.role);
    if (!isStrong && options.venue !== undefined)
      throw usage('--venue needs the token of an admin, which may create one for the venue.');
    const own = isStrong ? await this.#createToken() : undefined;
    const kept = Object.entries(io.env).filter(([name]) => !connectionVariables.test(name));
    const env = {
      ...Object.fromEntries(kept),
      SIGNAGE_URL: url.value,
      SIGNAGE_TOKEN: own?.token ?? token?.value,
      SIGNAGE_CA_FILE: caFile,
      SIGNAGE_TENANT: own ? undefined : tenant?.value,
    };
    const used = own && { tokenId: own.id, role: own.role, tenantId: own.tenantId };
    return { env, flags: insecureHttp ? { insecureHttp } : {}, me: { ...me, ...used } };
  }

  async #createToken(): Promise<CallAnswer<'createToken'>> {
    const { clock, options } = this.#call;
    const venue =
      options.venue === undefined ? undefined : await findVenue(this.#call, options.venue);
    const body = {
      name: `signage mcp ${hostname()} ${randomBytes(4).toString('hex')}`.slice(0, 100),
      role: options.allowChanges ? ('operator' as const) : ('viewer' as const),
      expiresAt: new Date(clock.now() + tokenLifeMs).toISOString(),
      venueIds: venue && [venue.id],
    };
    const made = await this.#call.change('createToken', { body });
    if (!made) throw usage('--dry-run does not work here.');
    this.#ownTokenId = made.answer.id;
    return made.answer;
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
    { signal, ...hooks }: RunOptions,
  ): Promise<CommandResult> {
    const { env, flags: connection } = await this.credentials();
    const { io, clock, random, interrupted } = this.#call;
    const [stdout, stderr] = [collector(), collector()];
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
      mayExamine,
      ...hooks,
    });
    const text = stdout.text();
    const value = all.output === 'json' && text !== '' ? JSON.parse(text) : undefined;
    const notes = stderr.text().split('\n').filter(Boolean);
    return { value, text, notes, exitCode };
  }
}
