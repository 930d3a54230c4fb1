// docs/cli.md, made from the program: what it says of itself, and around it what holds for all of it.

import { exitCodeOf } from '../../src/cli/command/exit-code.ts';
import { argumentTerm } from '../../src/cli/command/help.ts';
import { loadCommand } from '../../src/cli/command/load.ts';
import type { CommandSpec } from '../../src/cli/command/spec.ts';
import { type CommandPath, commandPaths, tree } from '../../src/cli/command/tree.ts';
import { describeSetting, type Setting } from '../../src/cli/options/settings.ts';
import {
  changeOptions,
  commonOptionsOf,
  connectionOptions,
  destructionOptions,
  type Effect,
  listOptions,
  manner,
  outputOptions,
} from '../../src/cli/options/shared.ts';
import { SignageError } from '../../src/domain/error.ts';
import { errorKinds } from '../../src/wire/errors.ts';

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
const called = (path: CommandPath) => path.filter((word) => word !== undefined).join(' ');

const settingRows = (settings: Settings) =>
  Object.values(settings).map((setting) => [
    code(setting.flags),
    cell(describeSetting(setting)) + (setting.required ? ' **(needed)**' : ''),
  ]);

/** Which of the shared options a command takes, as links to where they stand. */
function sharedText({ effect, list }: { effect: Effect; list?: boolean }): string {
  const groups = Object.keys(commonOptionsOf({ effect, ...(list !== undefined && { list }) }));
  if (groups.length === 0) return '';
  const flags = [
    ...(list ? Object.values<Setting<unknown>>(listOptions) : []),
    ...(effect === 'changes' || effect === 'destroys'
      ? Object.values<Setting<unknown>>(changeOptions)
      : []),
    ...(effect === 'destroys' ? Object.values<Setting<unknown>>(destructionOptions) : []),
  ].map(({ flags }) => code(flags));
  const links = groups.map((group) => `[${group.toLowerCase()}](${anchor(group)})`);
  return `Shared options: ${[...flags, ...links].join(', ')}.\n`;
}

function commandText(path: CommandPath, spec: CommandSpec): string {
  const args = Object.entries(spec.arguments ?? {});
  const options: readonly Setting<unknown>[] = Object.values(spec.options ?? {});
  const needed = options.filter(({ required }) => required).map(({ flags }) => flags);
  const words = [
    'signage',
    called(path),
    ...args.map(([name, argument]) => argumentTerm(name, argument)),
    ...needed,
    '[options]',
  ];
  return [
    `### signage ${called(path)}\n`,
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
  [0, 'It is done.'],
  [1, 'Something unexpected: a mistake of the program or of the service.'],
  [
    2,
    'Wrong usage: a word, an option or a value that is none, a name that several records have, a question that nobody is there to answer.',
  ],
  [3, 'What is named is not there.'],
  [4, 'Not allowed: no token, a wrong one, or one whose role does not suffice.'],
  [
    5,
    'Conflict: a name that is taken, a screen that has a device, a code that is over, a question that was answered with no.',
  ],
  [6, 'Invalid: the service, or the check of a file, refused the content.'],
  [
    7,
    'Not reachable, overloaded, or no signage service; tried again before, for as long as that may help.',
  ],
  [8, 'A wait came to its end in vain.'],
  [
    9,
    'It differs (`diff`, `playlist mirror`, `store copy`), or a part of it failed (`apply`, `doctor`, `--selector`).',
  ],
  [130, 'Interrupted by Ctrl-C (SIGINT).'],
  [143, 'Interrupted by SIGTERM; `pair` also by SIGHUP, when its terminal is closed.'],
];

function exitCodeTable(): string {
  const codes = Object.keys(errorKinds);
  const rows = meanings.map(([exitCode, what]) => {
    const ofService = codes.filter(
      (one) => exitCodeOf(new SignageError(one, '')) === exitCode && !one.startsWith('device_key'),
    );
    return [String(exitCode), what, ofService.map(code).join(', ')];
  });
  return table(['Exit code', 'Meaning', 'Error codes of the service'], rows);
}

/** Variables that no option stands for. */
const otherVariables: readonly (readonly [string, string])[] = [
  [
    'SIGNAGE_TOKEN',
    'the management token; never an option, for a command line is seen by everybody on the machine',
  ],
  ['SIGNAGE_ADMIN_TOKEN', 'with `serve`: the platform token, in place of one that it makes'],
  [
    'SIGNAGE_ON_DEMAND_TOKEN',
    'with `serve`: the bearer token for `--on-demand-url`, in place of a file',
  ],
  ['CI', 'never ask, as with `--no-input`'],
  ['NO_COLOR', 'no colours'],
  ['XDG_CONFIG_HOME', 'where the folder `signage` with the contexts is; `~/.config` otherwise'],
  ['NODE_EXTRA_CA_CERTS', 'a file of certificates that are trusted, as with `--ca-file`'],
];

function variableTable(specs: readonly CommandSpec[]): string {
  const shared: Settings[] = [connectionOptions, outputOptions, manner];
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

const intro = `<!-- Made by test/cli/reference.test.ts from the program itself: run it with -u after a change, and do not edit this page. -->

# signage: the command line

\`\`\`console
signage <command> [options]
signage <noun> <verb> [arguments] [options]
\`\`\`

\`signage --help\` lists the commands, \`signage <command> --help\` says what stands here of each. A mistyped word or option is answered with the
nearest one there is. [runbook.md](runbook.md) is a complete script to start from, [protocol.md](protocol.md) the interface underneath.
`;

const contract = `## The scripting contract

These hold for every command but \`serve\`, \`simulate\` and \`completion\`, which have options of their own.

- **Results go to stdout, all else to stderr**: notes, progress, questions, errors. A deletion has no result.
- **Records are named** by id or by what people call them: \`Lobby\`, \`Lobby/Main\`, or \`Main\` where only one screen is called so. A name that several have
  is wrong usage (2), and the candidates are listed.
- **Lists are complete**: all pages are fetched, unless \`--limit\` says how many are enough.
- **Nothing is asked off a terminal**, under \`CI\`, or with \`--no-input\`: the error names the option to give. What destroys asks at a terminal, and needs
  \`--yes\` elsewhere.
- **\`--dry-run\`** shows the requests that would be sent, and sends none that changes anything.
- **Errors** are one line and a hint on stderr. Under \`-o json\` and \`-o ndjson\` they are the service's problem document (RFC 9457) on one line, with
  \`code\`, \`exitCode\` and \`hint\`.
- **Text from the service** is never obeyed by the terminal: control characters and marks that turn the direction of text are spelled out (\`\\u001b\`).
- **Secrets** are taken from the environment, from files or from stdin, never from the command line; \`--verbose\` and errors do not show them.
- **Interrupted** commands clean up, and end with 130 or 143.

### Forms of results

| \`-o\` | |
| --- | --- |
| \`table\` | columns for people; a list of labels and values for one record. The default |
| \`wide\` | the same with all columns |
| \`json\` | one document: the record as the service sent it, or an array of them |
| \`ndjson\` | one record on each line, as they come: for long lists and \`--follow\` |
| \`yaml\` | the same as \`json\`, as YAML |
| \`csv\` | RFC 4180, with a header; all columns. A text that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return gets an apostrophe in front, so that a spreadsheet does not run it as a formula; numbers stay as they are |
| \`name\` | the name of each record on a line, as other commands take it |

\`--jq\` passes the result through a [jq](https://jqlang.org) expression (jq need not be installed): over the whole document with \`-o json\`, which is the default
with it, over each record with \`-o ndjson\`. Texts come out bare. \`--fields\` keeps some members, in any form.
`;

const contexts = `## Contexts

A context is a service and a token under a name. \`signage login\` saves one, \`signage context use\` chooses one, \`signage whoami\` says which one is used and
why. \`signage serve\` at a terminal saves the context \`local\` for itself.

What is used, the first that is there:

1. options: \`--url\`, \`--token-file\`, \`--tenant\`, \`--ca-file\`;
2. the context that \`--context\` names;
3. the environment: \`SIGNAGE_URL\`, \`SIGNAGE_TOKEN\`, \`SIGNAGE_TOKEN_FILE\`, \`SIGNAGE_TENANT\`, \`SIGNAGE_CA_FILE\`;
4. the context that \`SIGNAGE_CONTEXT\` names, else the current one;
5. \`http://127.0.0.1:4100\`, where \`signage serve\` listens, without a token.

A saved token is sent to the origin that it was saved for, and to no other. http to another machine needs \`--insecure-http\`.
`;

const files = `## Files

| File | |
| --- | --- |
| \`$XDG_CONFIG_HOME/signage/contexts.json\` | the contexts, with their tokens: mode 0600, and refused when others may read it. \`~/.config/signage\` where the variable is not set, on macOS \`~/Library/Preferences/signage\` |
| \`./signage-data\` | the data of \`signage serve\`, unless \`--data\` says otherwise: mode 0700, and refused when others may change it, unless \`--allow-open-data\` is given |
| the file of \`--token-file\` | a token: refused when others may change it |
| \`./signage-data/admin-token\` | the platform token of a service that was first started off a terminal |
`;

const sharedOptions = (): string =>
  [
    '## Shared options\n',
    '### Result\n',
    table(['Option', ''], settingRows({ ...outputOptions, ...listOptions })),
    '`--limit` goes with lists only.\n',
    '### Manner\n',
    table(['Option', ''], settingRows({ ...manner, ...changeOptions, ...destructionOptions })),
    '`--dry-run` goes with what changes something, `--yes` with what destroys something.\n',
    '### Connection\n',
    table(['Option', ''], settingRows(connectionOptions)),
  ].join('\n');

/** The whole page. */
export async function cliReference(): Promise<string> {
  const commands = await Promise.all(
    commandPaths.map(async (path) => ({ path, spec: await loadCommand(path) })),
  );
  const index = commands.map(({ path, spec }) => [
    `[signage ${called(path)}](${anchor(`signage ${called(path)}`)})`,
    cell(spec.summary),
  ]);
  const nouns = tree.flatMap(({ name, summary, verbs }) => {
    if (verbs.length === 0) return [];
    const own = commands.filter(({ path: [first, verb] }) => first === name && verb !== undefined);
    return [`## ${name}\n\n${summary}.\n`, ...own.map(({ path, spec }) => commandText(path, spec))];
  });
  const single = commands
    .filter(({ path: [, verb] }) => verb === undefined)
    .map(({ path, spec }) => commandText(path, spec));
  return [
    ...[
      intro,
      table(['Command', ''], index),
      contract,
      `### Exit codes\n\n${exitCodeTable()}`,
      contexts,
    ],
    `## Environment variables\n\n${variableTable(commands.map(({ spec }) => spec))}`,
    ...[files, sharedOptions(), '## Commands of one word\n', ...single, ...nouns],
  ].join('\n');
}
