import { describe, expect, it } from 'vitest';
import { runFastPath } from '../../../src/cli/command/fast-path.ts';
import { loadCommand } from '../../../src/cli/command/load.ts';
import type { Facts } from '../../../src/cli/command/print-help.ts';
import { type CommandPath, commandPaths, tree } from '../../../src/cli/command/tree.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { runCli } from '../run-cli.ts';

/** The facts as the build writes them. */
const facts: Facts = {
  version: () => '1.2.3',
  describe: async (path) => JSON.parse(JSON.stringify(await loadCommand(path))),
};

async function run(argv: readonly string[], columns?: number) {
  const io = fakeIo({ ...(columns !== undefined && { columns, isTTY: true }) });
  const code = await runFastPath(argv, io, facts);
  return { code, stdout: io.out(), stderr: io.err() };
}

const words = (path: CommandPath) => path.filter((word) => word !== undefined);
const askingForHelp: readonly (readonly string[])[] = [
  ...[[], ['--help'], ['help']],
  ...tree.flatMap(({ name, verbs }) =>
    verbs.length > 0 ? [[name], [name, '--help'], ['help', name]] : [],
  ),
  ...commandPaths.flatMap((path) => [
    [...words(path), '--help'],
    ['help', ...words(path)],
  ]),
];

const nothing = { code: undefined, stdout: '', stderr: '' };

describe('the fast path', () => {
  it.each([[['--version']], [['-V']], [['-o', 'json', '--version']]])(
    'prints the version for %j',
    async (argv) => {
      expect(await run(argv)).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' });
    },
  );

  it.each(askingForHelp.map((argv) => [argv]))(
    'prints the same help as the program for %j',
    async (argv) => {
      const { code, stdout, stderr } = await runCli(argv);
      expect(await run(argv)).toEqual({ code, stdout, stderr });
      const wide = await runCli(argv, { tty: true, columns: 137 });
      expect(await run(argv, 137)).toEqual({ code, stdout: wide.stdout, stderr: wide.stderr });
    },
  );

  it.each(['bash', 'zsh', 'fish'])(
    'prints the same completion script of %s as the program',
    async (shell) => {
      const { code, stdout, stderr } = await runCli(['completion', shell]);
      expect(await run(['completion', shell])).toEqual({ code, stdout, stderr });
    },
  );

  it.each([
    [['venue', 'list']],
    [['venu']],
    [['venue', 'lst']],
    [['--verion']],
    [['completion']],
    [['completion', 'tcsh']],
    [['completion', 'constructor']],
    [['completion', 'bash', '--', 'signage ve']],
    [['completion', 'bash', '--quiet']],
    [['api', 'GET', '--', '--help']],
  ])('leaves %j to the program', async (argv) => expect(await run(argv)).toEqual(nothing));
});
