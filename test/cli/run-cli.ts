// Runs commands in process, against a real service.
import { bashWords } from '../../src/cli/commands/completion/bash-words.ts';
import { main } from '../../src/cli/main.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { temporaryFolder } from '../support/disk/temporary-folder.ts';
import { type FakeIo, fakeIo } from '../support/process/fake-io.ts';
import { adminToken, startService, type TestService } from '../support/service/service.ts';

export interface CliOptions {
  env?: Record<string, string>;
  /** Text or bytes piped into stdin. */
  stdin?: string | Uint8Array;
  /** Whether the streams are terminals. Default: false. */
  tty?: boolean;
  /** Width of the terminal. */
  columns?: number;
  /** Keys to press, each after output that matches its pattern: `[[/Delete/, 'y\r']]`. */
  keys?: readonly (readonly [pattern: RegExp, keys: string])[];
  clock?: Clock;
  /** Wraps the streams. */
  around?: (io: FakeIo) => FakeIo;
  /** Runs beside the command, to send signals or to read its output early. */
  during?: (io: FakeIo) => Promise<unknown>;
}

export interface CliRun {
  code: number;
  stdout: string;
  stderr: string;
  /** `stdout`, parsed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape.
  json: any;
  /** The lines of `stdout`, each parsed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  ndjson: any[];
}

async function press(io: FakeIo, keys: CliOptions['keys'] = []): Promise<void> {
  for (const [pattern, text] of keys) {
    await io.until(pattern);
    io.type(text);
  }
}

/** Nothing listens there. Loopback addresses are called directly. */
const closedProxy = 'http://127.0.0.1:1';

/** The words of a command line, or the line itself with quotes as in a shell. */
type CommandLine = string | readonly string[];

/**
 * Runs one command line with only the given environment. By default, a refused connection is not
 * repeated. Its configuration folder is empty, unless
 * `XDG_CONFIG_HOME` is given.
 */
export async function runCli(
  line: CommandLine,
  {
    env = {},
    stdin,
    tty = false,
    columns,
    keys,
    clock = systemClock,
    around = (io) => io,
    during,
  }: CliOptions = {},
): Promise<CliRun> {
  const variables = {
    SIGNAGE_RETRY: '0',
    // Hosts of media are asked through it, so that no test uses the internet.
    ...(Object.keys(env).some((name) => /_proxy$/i.test(name))
      ? {}
      : { http_proxy: closedProxy, https_proxy: closedProxy }),
    XDG_CONFIG_HOME: env.XDG_CONFIG_HOME ?? (await temporaryFolder()),
    ...env,
  };
  const io = fakeIo({
    env: variables,
    isTTY: tty,
    ...(columns !== undefined && { columns }),
    ...(stdin !== undefined && { stdin }),
  });
  const argv = typeof line === 'string' ? bashWords(line).map(({ text }) => text) : line;
  const running = main(argv, around(io), { clock });
  await Promise.race([running, Promise.all([press(io, keys), during?.(io)])]);
  const code = await running;
  const lines = () => io.out().split('\n').slice(0, -1);
  // Not enumerable: a failing test prints the result, and most output is not JSON.
  const parsed = {
    json: { get: () => JSON.parse(io.out()) },
    ndjson: { get: () => lines().map((line) => JSON.parse(line)) },
  };
  return Object.defineProperties({ code, stdout: io.out(), stderr: io.err() }, parsed) as CliRun;
}

/** Returns a function that runs commands with the service and the token in the environment. */
export function cliOf(service: { url: string }, token: string) {
  return (line: CommandLine, options: CliOptions = {}) =>
    runCli(line, {
      ...options,
      env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: token, ...options.env },
    });
}

export type Cli = ReturnType<typeof cliOf>;

/**
 * Starts a service, and returns a function that runs commands with its platform token.
 *
 * @example
 * const { cli } = await startCli();
 * const { json } = await cli('venue create --name Lobby -o json');
 * expect(json).toMatchObject({ name: 'Lobby' });
 */
export async function startCli(): Promise<{
  service: TestService<Clock>;
  cli: Cli;
  as(role: string): Promise<Cli>;
}> {
  const service = await startService<Clock>({ clock: systemClock });
  return {
    service,
    cli: cliOf(service, adminToken),
    as: async (role) => cliOf(service, await service.token(role)),
  };
}
