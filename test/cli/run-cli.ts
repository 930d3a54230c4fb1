// Commands, run in process against a real service.
import { main } from '../../src/cli/main.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { type FakeIo, fakeIo } from '../support/fake-io.ts';
import { adminToken, startService, type TestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export interface CliOptions {
  env?: Record<string, string>;
  /** What is piped in. */
  stdin?: string;
  /** Whether a person sits at a terminal. */
  tty?: boolean;
  /** How wide its lines are. */
  columns?: number;
  /** Keys to press, each once what it waits for was written: `[[/Delete/, 'y\r']]`. */
  keys?: readonly (readonly [pattern: RegExp, keys: string])[];
  clock?: Clock;
  /** Puts something around the streams. */
  around?: (io: FakeIo) => FakeIo;
  /** Is handed the streams as soon as it runs: for signals, and for what it says on the way. */
  during?: (io: FakeIo) => Promise<unknown>;
}

export interface CliRun {
  code: number;
  stdout: string;
  stderr: string;
  /** `stdout` as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
  json: any;
  /** `stdout` as lines of JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  ndjson: any[];
}

async function press(io: FakeIo, keys: CliOptions['keys'] = []): Promise<void> {
  for (const [pattern, text] of keys) {
    await io.until(pattern);
    io.type(text);
  }
}

/** Runs one command line. It has no environment but the given one, and a folder of settings that is empty unless `XDG_CONFIG_HOME` says otherwise. */
export async function runCli(
  argv: readonly string[],
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
  const world = { XDG_CONFIG_HOME: env.XDG_CONFIG_HOME ?? (await temporaryFolder()), ...env };
  const io = fakeIo({
    env: world,
    isTTY: tty,
    ...(columns !== undefined && { columns }),
    ...(stdin !== undefined && { stdin }),
  });
  const running = main(argv, around(io), { clock });
  await Promise.race([running, Promise.all([press(io, keys), during?.(io)])]);
  const code = await running;
  const lines = () => io.out().split('\n').slice(0, -1);
  // Not enumerable, for results are printed when a test fails, and most are no JSON.
  const parsed = {
    json: { get: () => JSON.parse(io.out()) },
    ndjson: { get: () => lines().map((line) => JSON.parse(line)) },
  };
  return Object.defineProperties({ code, stdout: io.out(), stderr: io.err() }, parsed) as CliRun;
}

/** A command line that knows a service and the token to use: the environment says them. */
export function cliOf(service: { url: string }, token: string) {
  return (argv: readonly string[], options: CliOptions = {}) =>
    runCli(argv, {
      ...options,
      env: { SIGNAGE_URL: service.url, SIGNAGE_TOKEN: token, ...options.env },
    });
}

export type Cli = ReturnType<typeof cliOf>;

/**
 * A service of its own, and the command line to it as the platform.
 *
 *
 * @example
 * const { cli } = await startCli();
 * expect((await cli(['venue', 'create', '--name', 'Lobby', '-o', 'json'])).json).toMatchObject({ name: 'Lobby' });
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
