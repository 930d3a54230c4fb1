import * as option from '../../input/option.ts';
import { type CommandTree, defineCommand } from '../../program/spec.ts';

const clients = ['claude', 'vscode', 'cursor'] as const;

/** Makes the command `mcp`, whose tools run commands of `tree`. */
export const mcpOf = (tree: CommandTree) =>
  defineCommand({
    summary: 'Let an AI assistant work the service through the Model Context Protocol',
    description: `Speaks the Model Context Protocol on stdin and stdout. An AI client starts it. See
docs/mcp.md for the set-up of clients, the tools, and what they can never do.

The tools only read, unless --allow-changes is given. A change is first answered with a plan, and
made when the model confirms the plan and the client's user accepts it. From an admin's or
platform's token, the command creates a token of its own for 12 hours: a viewer, or an operator with
--allow-changes. It deletes that token when it ends.`,
    options: {
      allowChanges: option.flag('--allow-changes', 'also offer the tools that change something'),
      allowUnattended: option.flag(
        '--allow-unattended',
        'make confirmed changes without asking the user of the client; takeovers and changes of more than 5 screens are asked about all the same',
      ),
      toolset: option.choice(
        ['operate', 'develop'],
        '--toolset <name>',
        'operate: work a service; develop: write a TV app against a local one; default: operate',
      ),
      tools: option.text('--tools <names>', 'only these tools, with commas; default: all'),
      venue: option.text(
        '--venue <venue>',
        'only this venue, by id or name; needs the token of an admin',
        'venue',
      ),
      root: option.text(
        '--root <folder>',
        'the only folder whose files may be shown; default: the current one',
      ),
      print: option.choice(
        clients,
        '--print <client>',
        'print the entry for the configuration file of this client, with the other options, and end',
      ),
    },
    examples: [
      ['signage mcp', 'read-only, with the saved context'],
      ['signage mcp --allow-changes --venue Lobby', 'may also change one venue'],
      ['signage mcp --toolset develop', 'for an assistant that writes a TV app'],
      ['signage mcp --tools find,status,explain', 'three tools only'],
      ['signage mcp --context local --print vscode', 'the entry for .vscode/mcp.json'],
    ],
    async run(call) {
      const { print } = call.options;
      if (print !== undefined) {
        const { printEntry } = await import('./client-entry.ts');
        return printEntry(call, print);
      }
      const { serveMcp } = await import('./serve-mcp.ts');
      return serveMcp(call, tree);
    },
  });
