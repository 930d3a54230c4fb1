import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommandContext } from '../../program/context.ts';
import { optionWords } from './shown-plan.ts';

/** The member of a client's configuration file that has its servers. */
const memberOf = { claude: 'mcpServers', cursor: 'mcpServers', vscode: 'servers' } as const;

/** Options that name a file. A client starts the program in a folder of its own. */
const paths: readonly string[] = ['root', 'tokenFile', 'caFile'];

/** Prints the entry with which a client starts this program with the same options. */
export function printEntry(call: CommandContext, client: keyof typeof memberOf): void {
  // Commander sets `input` unless `--no-input` is given.
  const { print: _print, output: _output, input: _input, ...flags } = call.flags;
  const [node, script] = process.argv;
  const program = script === undefined || script === node ? [] : [realpathSync(script)];
  const whole = Object.entries(flags).map(([name, value]) => [
    name,
    paths.includes(name) ? resolve(String(value)) : value,
  ]);
  const args = [...program, 'mcp', ...optionWords(Object.fromEntries(whole))];
  const server = { ...(client === 'vscode' && { type: 'stdio' }), command: process.execPath, args };
  const entry = { [memberOf[client]]: { signage: server } };
  call.io.stdout.write(`${JSON.stringify(entry, undefined, 2)}\n`);
}
