// Generates docs/cli.md from the command specifications and test/fixtures/cli-reference.md.
import { readFile } from 'node:fs/promises';
import { describeSetting, type Setting } from '../../src/cli/input/settings.ts';
import {
  behaviourOptions,
  changeOptions,
  commonOptionsOf,
  connectionOptions,
  listOptions,
  outputOptions,
  retryOptions,
} from '../../src/cli/input/shared.ts';
import { exitCodeOf } from '../../src/cli/program/exit-code.ts';
import { argumentTerm } from '../../src/cli/program/parser.ts';
import type { CommandSpec } from '../../src/cli/program/spec.ts';
import { tree } from '../../src/cli/tree.ts';
import { type ErrorCode, SignageError } from '../../src/domain/error.ts';
import { errorKinds } from '../../src/wire/errors.ts';
import { allCommands, type NamedCommand } from '../support/process/commands.ts';
import { wrapMarkdown } from './wrap-markdown.ts';

const template = new URL('../fixtures/cli-reference.md', import.meta.url);

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

const exitCodes = (Object.keys(errorKinds) as ErrorCode[])
  .filter((one) => !one.startsWith('device_key'))
  .map((one) => ({ error: code(one), exitCode: exitCodeOf(new SignageError(one, '')) }));

/** Returns the error codes of the service with which a command ends with this exit code. */
const errorsOf = (exit: number): string =>
  exitCodes
    .filter(({ exitCode }) => exitCode === exit)
    .map(({ error }) => error)
    .join(', ');

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
  [
    'HTTPS_PROXY',
    'the HTTP proxy for https services and media files. Default: that of `HTTP_PROXY`',
  ],
  ['HTTP_PROXY', 'the HTTP proxy for http services and media files'],
  ['NO_PROXY', 'hosts that are reached directly, such as `example.com,.internal:8443`, or `*`'],
  ['NODE_EXTRA_CA_CERTS', 'a file of trusted certificates, as with `--ca-file`'],
];

function variableTable(specs: readonly CommandSpec[]): string {
  const shared: Settings[] = [connectionOptions, retryOptions, outputOptions, behaviourOptions];
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

/** Fills in the template. */
export async function cliReference(): Promise<string> {
  const commands = await allCommands();
  const index = commands.map(({ name, spec }) => [
    `[signage ${name}](${anchor(`signage ${name}`)})`,
    cell(spec.summary),
  ]);
  const ofNouns = Object.entries(tree.nouns).flatMap(([noun, summary]) => {
    const own = commands.filter(({ path: [first, verb] }) => first === noun && verb !== undefined);
    return [`## ${noun}\n\n${summary}.\n`, ...own.map(commandText)];
  });
  const single = commands.filter(({ path: [, verb] }) => verb === undefined).map(commandText);
  const options = (settings: Settings) => table(['Option', ''], settingRows(settings));
  const parts: Record<string, string> = {
    commands: table(['Command', ''], index),
    variables: variableTable(commands.map(({ spec }) => spec)),
    'result options': options({ ...outputOptions, ...listOptions }),
    'behaviour options': options({ ...behaviourOptions, ...changeOptions }),
    'connection options': options({ ...connectionOptions, ...retryOptions }),
    'commands of one word': single.join('\n'),
    'commands of nouns': ofNouns.join('\n'),
  };
  const page = (await readFile(template, 'utf8')).replaceAll(
    /\{\{(?:exit (\d+)|([a-z ]+))\}\}/g,
    (_, exit, part) => (exit ? errorsOf(Number(exit)) : (parts[part] as string).trimEnd()),
  );
  return wrapMarkdown(page);
}
