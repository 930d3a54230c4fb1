// Generates docs/cli.md from the command specifications, with the rules common to all commands.

import { exitCodeOf } from '../../src/cli/command/exit-code.ts';
import { argumentTerm } from '../../src/cli/command/parser.ts';
import type { CommandSpec } from '../../src/cli/command/spec.ts';
import { nouns } from '../../src/cli/command/tree.ts';
import { describeSetting, type Setting } from '../../src/cli/options/settings.ts';
import {
  behaviourOptions,
  changeOptions,
  commonOptionsOf,
  connectionOptions,
  listOptions,
  outputOptions,
} from '../../src/cli/options/shared.ts';
import { type ErrorCode, SignageError } from '../../src/domain/error.ts';
import { errorKinds } from '../../src/wire/errors.ts';
import { allCommands, type NamedCommand } from '../support/commands.ts';
import { wrapMarkdown } from './wrap-markdown.ts';

type Settings = Readonly<Record<string, Setting<unknown>>>;

const cell = (text: string) =>
  text
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('<', '\\<');
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  rows.length === 0
    ? ''
    : `${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
const fenced = (text: string) => `\`\`\`console\n${text}\n\`\`\`\n`;
const anchor = (heading: string) =>
  `#${heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')}`;

const settingRows = (settings: Settings) =>
  Object.values(settings).map((setting) => [
    code(setting.flags),
    cell(describeSetting(setting)) + (setting.required ? ' **(required)**' : ''),
  ]);

/** Lists the shared options of a command, with links to their tables. */
function sharedText({ effect = 'reads', list = false }: CommandSpec): string {
  const groups = Object.keys(commonOptionsOf({ effect, list }));
  if (groups.length === 0) return '';
  const flags = [
    ...(list ? Object.values<Setting<unknown>>(listOptions) : []),
    ...(effect === 'changes' || effect === 'destroys'
      ? Object.values<Setting<unknown>>(changeOptions)
      : []),
  ].map(({ flags }) => code(flags));
  const links = groups.map((group) => `[${group.toLowerCase()}](${anchor(group)})`);
  return `Shared options: ${[...flags, ...links].join(', ')}.\n`;
}

function commandText({ name: called, spec }: NamedCommand): string {
  const args = Object.entries(spec.arguments ?? {});
  const options: readonly Setting<unknown>[] = Object.values(spec.options ?? {});
  const needed = options.filter(({ required }) => required).map(({ flags }) => flags);
  const words = [
    'signage',
    called,
    ...args.map(([name, argument]) => argumentTerm(name, argument)),
    ...needed,
    '[options]',
  ];
  return [
    `### signage ${called}\n`,
    `${spec.summary}.\n`,
    fenced(words.join(' ')),
    spec.description === undefined
      ? ''
      : `${/^ {2,}\S/m.test(spec.description) ? fenced(spec.description).replace('console', 'text') : `${spec.description}\n`}`,
    table(
      ['Argument', ''],
      args.map(([name, argument]) => [code(argumentTerm(name, argument)), cell(argument.help)]),
    ),
    table(['Option', ''], settingRows(spec.options ?? {})),
    sharedText(spec),
    fenced(spec.examples.map(([line, what]) => `# ${what}\n${line}`).join('\n')),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const meanings: readonly (readonly [exitCode: number, what: string])[] = [
  [0, 'Success.'],
  [1, 'Unexpected: a bug of the program or of the service.'],
  [
    2,
    'Wrong usage: an unknown word, option or value, a name that several records have, a question without a terminal.',
  ],
  [3, 'A named record does not exist.'],
  [4, 'Not allowed: no token, a wrong one, or one with too low a role.'],
  [
    5,
    'Conflict: a taken name, a screen with a device, a finished code, a question answered with no.',
  ],
  [6, 'Invalid: the service, or the check of a file, refused the content.'],
  [7, 'Unreachable, overloaded, or not a signage service, also after retries.'],
  [8, 'A wait timed out.'],
  [
    9,
    'Differences (`diff`, `playlist mirror`, `store copy`), problems (`doctor`, `playlist check`), or partial failure (`apply`, `--selector`).',
  ],
  [130, 'Interrupted by Ctrl-C (SIGINT).'],
  [143, 'Interrupted by SIGTERM; `pair` also by SIGHUP, when its terminal is closed.'],
];

function exitCodeTable(): string {
  const codes = Object.keys(errorKinds) as ErrorCode[];
  const rows = meanings.map(([exitCode, what]) => {
    const ofService = codes.filter(
      (one) => exitCodeOf(new SignageError(one, '')) === exitCode && !one.startsWith('device_key'),
    );
    return [String(exitCode), what, ofService.map(code).join(', ')];
  });
  return table(['Exit code', 'Meaning', 'Error codes of the service'], rows);
}

/** Variables without an option. */
const otherVariables: readonly (readonly [string, string])[] = [
  [
    'SIGNAGE_TOKEN',
    'the management token; never an option, because everybody on the machine can see a command line',
  ],
  ['SIGNAGE_ADMIN_TOKEN', 'with `serve`: the platform token, in place of a generated one'],
  [
    'SIGNAGE_ON_DEMAND_TOKEN',
    'with `serve`: the bearer token for `--on-demand-url`, in place of a file',
  ],
  ['CI', 'never ask, as with `--no-input`'],
  ['NO_COLOR', 'no colours'],
  ['XDG_CONFIG_HOME', 'parent of the folder `signage` with the contexts. Default: `~/.config`'],
  ['NODE_EXTRA_CA_CERTS', 'a file of trusted certificates, as with `--ca-file`'],
];

function variableTable(specs: readonly CommandSpec[]): string {
  const shared: Settings[] = [connectionOptions, outputOptions, behaviourOptions];
  const all = [...shared, ...specs.map(({ options }) => options ?? {})].flatMap((settings) =>
    Object.values<Setting<unknown>>(settings),
  );
  const byName = new Map<string, string>();
  for (const { env, flags, help } of all) {
    if (env !== undefined && !byName.has(env))
      byName.set(env, `${code(/--[\w-]+/.exec(flags)?.[0] ?? flags)}: ${cell(help)}`);
  }
  for (const [name, what] of otherVariables) byName.set(name, what);
  const rows = [...byName]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, what]) => [code(name), what]);
  return table(['Variable', ''], rows);
}

const intro = `<!-- Generated by test/cli/reference.test.ts: run it with -u, and do not edit this page. -->

# signage: the command line

\`\`\`console
signage <command> [options]
signage <noun> <verb> [arguments] [options]
\`\`\`

\`signage --help\` lists the commands, and \`signage <command> --help\` describes one as on this page. For a mistyped word or option, the error names the
nearest match. [runbook.md](runbook.md) provisions a venue. [protocol.md](protocol.md) is the HTTP interface.
`;

const contract = `## The scripting contract

These rules apply to all commands except \`serve\`, \`simulate\` and \`completion\`, which have options of their own.

- **Results go to stdout, everything else to stderr**: notes, progress, questions, errors. A deletion has no result.
- **Records are named** by id or by name: \`Lobby\`, \`Lobby/Main\`, or \`Main\` if only one screen has that name. An ambiguous name is wrong usage (2), and the
  candidates are listed.
- **Lists are complete**: all pages are fetched, up to \`--limit\`.
- **No questions without a terminal**, under \`CI\`, or with \`--no-input\`: the error names the option to pass. Destructive commands ask on a terminal, and
  need \`--yes\` otherwise.
- **\`--dry-run\`** shows the requests that would be sent, and sends none that would change anything.
- **Errors** are one line and a hint on stderr. Under \`-o json\` and \`-o ndjson\` they are the service's problem document (RFC 9457) on one line, with
  \`code\`, \`exitCode\` and \`hint\`.
- **Text from the service** is escaped: control characters and characters that change the direction of text are printed as \`\\u001b\`.
- **Secrets** come from the environment, from files or from stdin, never from the command line. \`--verbose\` and errors do not show them.
- **Interrupted** commands clean up, and exit with 130 or 143.

### Forms of results

| \`-o\` | |
| --- | --- |
| \`table\` | columns for people, or labels and values of one record. Default |
| \`wide\` | the same, with all columns |
| \`json\` | one document: the record as the service sent it, or an array of them |
| \`ndjson\` | one record on each line, streamed: for long lists and \`--follow\` |
| \`yaml\` | the same as \`json\`, as YAML |
| \`csv\` | RFC 4180, with a header and all columns. A text that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return gets an apostrophe in front, so that a spreadsheet does not run it as a formula. Numbers stay unchanged |
| \`name\` | the name of each record on a line, in the form that other commands accept |

\`--jq\` filters the result by a [jq](https://jqlang.org) expression (jq need not be installed). It applies to the whole document with \`-o json\`, its default,
and to each record with \`-o ndjson\`. Strings are printed without quotes. \`--fields\` keeps only the named members, in any form.
`;

const contexts = `## Contexts

A context is a named pair of a service and a token. \`signage login\` saves one, \`signage context use\` selects one, and \`signage whoami\` shows which one is used
and why. On a terminal, \`signage serve\` saves the context \`local\` for itself, or \`local-2\` and so on, if another service has that name.

The first one present is used:

1. options: \`--url\`, \`--token-file\`, \`--tenant\`, \`--ca-file\`;
2. the context that \`--context\` names;
3. the environment: \`SIGNAGE_URL\`, \`SIGNAGE_TOKEN\`, \`SIGNAGE_TOKEN_FILE\`, \`SIGNAGE_TENANT\`, \`SIGNAGE_CA_FILE\`;
4. the context that \`SIGNAGE_CONTEXT\` names, or else the current one;
5. \`http://127.0.0.1:4100\`, where \`signage serve\` listens, without a token.

A saved token is sent only to the origin that it was saved for. http to another machine needs \`--insecure-http\`.
`;

const files = `## Files

| File | |
| --- | --- |
| \`$XDG_CONFIG_HOME/signage/contexts.json\` | the contexts, with their tokens. Mode 0600; refused if others may read it. Default folder: \`~/.config/signage\`, on macOS \`~/Library/Preferences/signage\` |
| \`./signage-data\` | default data folder of \`signage serve\` (\`--data\`). Mode 0700; refused if others may change it, unless \`--allow-open-data\` is given |
| the file of \`--token-file\` | a token; refused if others may change it |
| \`./signage-data/admin-token\` | the platform token of a service that was first started without a terminal. A start warns if it was rotated or deleted |
`;

const sharedOptions = (): string =>
  [
    '## Shared options\n',
    '### Result\n',
    table(['Option', ''], settingRows({ ...outputOptions, ...listOptions })),
    '`--limit` is for lists only.\n',
    '### Behaviour\n',
    table(['Option', ''], settingRows({ ...behaviourOptions, ...changeOptions })),
    '`--dry-run` and `--yes` are for commands that change something.\n',
    '### Connection\n',
    table(['Option', ''], settingRows(connectionOptions)),
  ].join('\n');

/** Returns the whole page. */
export async function cliReference(): Promise<string> {
  const commands = await allCommands();
  const index = commands.map(({ name, spec }) => [
    `[signage ${name}](${anchor(`signage ${name}`)})`,
    cell(spec.summary),
  ]);
  const ofNouns = Object.entries(nouns).flatMap(([noun, summary]) => {
    const own = commands.filter(({ path: [first, verb] }) => first === noun && verb !== undefined);
    return [`## ${noun}\n\n${summary}.\n`, ...own.map(commandText)];
  });
  const single = commands.filter(({ path: [, verb] }) => verb === undefined).map(commandText);
  const page = [
    intro,
    table(['Command', ''], index),
    contract,
    `### Exit codes\n\n${exitCodeTable()}`,
    contexts,
    `## Environment variables\n\n${variableTable(commands.map(({ spec }) => spec))}`,
    files,
    sharedOptions(),
    '## Commands of one word\n',
    ...single,
    ...ofNouns,
  ];
  return wrapMarkdown(page.join('\n'));
}
