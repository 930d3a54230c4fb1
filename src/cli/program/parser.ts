import {
  Command,
  Argument as CommanderArgument,
  type CommanderError,
  Help,
  type HelpConfiguration,
  Option,
} from 'commander';
import { packageVersion } from '../../package/version.ts';
import { describeSetting, type Setting, usage } from '../input/settings.ts';
import { commonOptionsOf, leadingOptions, sharedGroups } from '../input/shared.ts';
import type { Io, Output } from '../terminal/io.ts';
import { wrapText } from '../terminal/wrap.ts';
import type { Argument, CommandSpec, CommandTree } from './spec.ts';

type Outputs = Pick<Io, 'stdout' | 'stderr'>;
type Settings = Readonly<Record<string, Setting<unknown>>>;

const defaultWidth = 80;
/** Minimum width of help, in columns. A narrower terminal wraps the lines itself. */
const minWidth = 40;
const maxTermWidth = 26;
const maxNounExamples = 4;
const defaultHelp = new Help();
/** Heading of the options that help does not list. */
const sharedHeading = 'Shared options:';
const sharedSettings = Object.values(sharedGroups).flatMap((group) => Object.values(group));
const optionsTopic = 'signage help options';
const sharedText = `Shared options (-o, --quiet, …): ${optionsTopic}`;

/** Keeps the column of options and arguments narrow. A longer term gets its own line. */
const helpLayout: HelpConfiguration = {
  argumentTerm: (argument) => termOf(argument.name(), argument.required, argument.variadic),
  /** Commands of a noun show their arguments. That they take options goes without saying. */
  subcommandTerm: (command) => defaultHelp.subcommandTerm(command).replace(' [options]', ''),
  padWidth(command, helper) {
    const width = helper.helpWidth ?? defaultWidth;
    return Math.min(maxTermWidth, Math.floor(width / 3), defaultHelp.padWidth(command, helper));
  },
  formatItem(term, termWidth, description, helper) {
    const column = termWidth + 4;
    const nextLine = `\n${' '.repeat(column)}`;
    const text = helper.boxWrap(description, (helper.helpWidth ?? defaultWidth) - column);
    const start = term.length > termWidth ? `  ${term}${nextLine}` : `  ${term.padEnd(column - 2)}`;
    return start + text.replaceAll('\n', nextLine);
  },
  /**
   * Does not wrap indented lines, which are commands or the content of a file. Indents the further
   * lines of an entry of a list.
   */
  boxWrap(text, width) {
    const wrapLine = (line: string) => {
      if (line.startsWith(' ')) return line;
      if (!line.startsWith('- ')) return wrapText(line, width);
      return `- ${wrapText(line.slice(2), width - 2).replaceAll('\n', '\n  ')}`;
    };
    return text.split('\n').map(wrapLine).join('\n');
  },
  /** `describeSetting` already describes the default. */
  optionDescription: ({ description }) => description,
  groupItems(unsorted, visible, groupOf) {
    const groups = defaultHelp.groupItems(unsorted, visible, groupOf);
    groups.delete(sharedHeading);
    return groups;
  },
};

/**
 * Joins the lines of a paragraph, so that help can wrap it again. Keeps indented lines and the
 * entries of lists apart.
 */
const unwrapped = (text: string) => text.replaceAll(/(?<=\S)\n(?=\S)(?!- )/g, ' ');

function termOf(name: string, isRequired: boolean, isVariadic: boolean): string {
  const word = isVariadic ? `${name}...` : name;
  return isRequired ? `<${word}>` : `[${word}]`;
}

/** Formats an argument for usage lines and for commander. */
export const argumentTerm = (name: string, { form }: Argument) =>
  termOf(name, form === 'one' || form === 'many', form === 'many' || form === 'some');

const widthOf = ({ columns }: Output) => Math.max(minWidth, columns ?? defaultWidth);

/** An option of commander, with the setting that it was made of. */
export class SettingOption extends Option {
  readonly setting: Setting<unknown>;

  constructor(setting: Setting<unknown>) {
    super(setting.flags, describeSetting(setting));
    this.setting = setting;
    const once = (value: string, before: unknown) => {
      if (before !== undefined) throw usage(`${this.long} is given twice, and takes one value.`);
      return value;
    };
    const add = (value: string, before: readonly string[] = []) => [...before, value];
    if (setting.repeatable) this.argParser(add);
    else if (this.required || this.optional) this.argParser(once);
    if (this.optional) this.preset('');
  }
}

/** An argument of commander, with what it was made of. */
export class SpecArgument extends CommanderArgument {
  readonly spec: Argument;

  constructor(name: string, spec: Argument) {
    super(argumentTerm(name, spec), spec.help);
    this.spec = spec;
    if (spec.choices) this.choices(spec.choices);
  }
}

/** Why commander stopped: because of a mistake, or because it printed help or the version. */
export class ParsingStopped extends Error {
  readonly command: Command;
  readonly reason: CommanderError;
  /** The specification of the command. `undefined`: the command is `signage`, or a noun. */
  readonly spec: CommandSpec | undefined;

  constructor(command: Command, reason: CommanderError, spec?: CommandSpec) {
    super(reason.message);
    this.command = command;
    this.reason = reason;
    this.spec = spec;
  }
}

/** Makes the command `signage`, without its commands. They inherit what is set here. */
function makeRoot(name: string, { stdout, stderr }: Outputs): Command {
  return new Command(name)
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .configureHelp(helpLayout)
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => {},
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    });
}

/** Makes a command throw `ParsingStopped` where commander would end the process. */
function throwStops(command: Command, spec?: CommandSpec): Command {
  return command.exitOverride((reason) => {
    throw new ParsingStopped(command, reason, spec);
  });
}

function addOptions(command: Command, settings: Settings): void {
  for (const setting of Object.values(settings)) command.addOption(new SettingOption(setting));
}

/** Adds the alias of `-o json`. Help, completion and suggestions do not name it. */
const addJsonFlag = (command: Command) =>
  command.addOption(new Option('--json').hideHelp().implies({ output: 'json' }));

const examplesText = (examples: CommandSpec['examples']) =>
  `\nExamples:\n${examples.map(([line, what]) => `  # ${what}\n  ${line}`).join('\n')}`;

/** Returns the words of a command: `signage venue create`. */
export const pathOf = (command: Command): string =>
  [command.parent && pathOf(command.parent), command.name()].filter(Boolean).join(' ');

const moreHelp = (name: string) => `${name} <command> --help describes a command, with examples.`;

/** Prints the help of the options that most commands share. */
export function showSharedOptions(io: Outputs): void {
  const command = makeRoot(optionsTopic, io)
    .helpOption(false)
    .usage('')
    .description('The options that most commands share.');
  for (const [group, settings] of Object.entries(sharedGroups)) {
    command.optionsGroup(`${group}:`);
    addOptions(command, settings);
  }
  command.outputHelp();
}

/** Adds the arguments, the options and the help of a command. */
function describe(command: Command, spec: CommandSpec, { stdout }: Outputs): void {
  const { summary, description, examples, options = {}, arguments: all = {} } = spec;
  const terms: string[] = [];
  for (const [name, argument] of Object.entries(all)) {
    terms.push(argumentTerm(name, argument));
    command.addArgument(new SpecArgument(name, argument));
  }
  for (const { required, flags } of Object.values(options)) if (required) terms.push(flags);
  const about = description === undefined ? '' : `\n\n${unwrapped(description)}`;
  command
    .usage([...terms, '[options]'].join(' '))
    .summary(summary)
    .description(`${summary}.${about}`);
  addOptions(command, options);
  const common = Object.values(commonOptionsOf(spec)).flatMap((group) => Object.values(group));
  for (const setting of common) {
    const option = new SettingOption(setting);
    command.addOption(sharedSettings.includes(setting) ? option.helpGroup(sharedHeading) : option);
  }
  if (common.length > 0) {
    addJsonFlag(command);
    command.addHelpText('after', `\n${wrapText(sharedText, widthOf(stdout))}`);
  }
  command.addHelpText('after', examplesText(examples));
}

/** Lets a command refuse a word that it does not know, although `--help` follows. */
export function refuseUnknown(command: Command, word = '-'): void {
  const isKnown = command.commands.some((one) => one.name() === word);
  if (command.commands.length > 0 && !isKnown && !word.startsWith('-')) command.helpOption(false);
}

/** Runs a command that commander has parsed. */
type Run = (spec: CommandSpec, command: Command) => Promise<void>;

export interface Program {
  /** The command `signage`. Its commands have only their names and summaries until `load`. */
  root: Command;
  /** Loads the file of a command of `root`, and describes the command and its verbs. */
  load(command: Command): Promise<void>;
}

/**
 * Makes the program. `root.parseAsync` loads only the command that it runs. It throws
 * `ParsingStopped` for a mistake, and after help.
 */
export function makeProgram(tree: CommandTree, io: Outputs, run: Run): Program {
  const root = throwStops(makeRoot('signage', io))
    .usage('<command> [options]')
    .description(
      `Digital signage: pair TVs with screens, serve playlists, collect proof of play.\n\n${moreHelp('signage')}`,
    )
    .version(packageVersion() ?? 'unknown', '-V, --version', 'show the version');
  addOptions(root, leadingOptions);
  addJsonFlag(root);
  for (const [heading, words] of [
    ['Commands:', tree.single],
    ['Records:', tree.nouns],
  ] as const) {
    root.commandsGroup(heading);
    for (const [word, summary] of Object.entries(words)) root.command(word).summary(summary);
  }
  const add = (command: Command, spec: CommandSpec) => {
    throwStops(command, spec).action(() => run(spec, command));
    describe(command, spec, io);
  };
  /** Gives a command the options before the first word. */
  const passOn = (command: Command) => {
    for (const option of root.options) {
      const value = root.getOptionValue(option.attributeName());
      if (value === undefined) continue;
      if (!command.options.some(({ long }) => long === option.long))
        command.error(`unknown option '${option.long}'`, { code: 'commander.unknownOption' });
      command.setOptionValue(option.attributeName(), value);
    }
  };
  const load = async (command: Command) => {
    const spec = await tree.loadSingle[command.name()]?.();
    if (spec) return add(command, spec);
    const verbs = (await tree.loadVerbs[command.name()]?.()) ?? {};
    for (const [verb, one] of Object.entries(verbs)) add(command.command(verb), one);
    const examples = Object.values(verbs).flatMap((one) => one.examples.slice(0, 1));
    throwStops(command)
      .helpCommand(false)
      .usage('<command> [options]')
      .description(`${command.summary()}.\n\n${moreHelp(pathOf(command))}`)
      .addHelpText('after', examplesText(examples.slice(0, maxNounExamples)))
      .hook('preSubcommand', (_, verb) => passOn(verb));
  };
  root.hook('preSubcommand', async (_, command) => {
    await load(command);
    refuseUnknown(command, root.args[1]);
    if (command.commands.length === 0) passOn(command);
  });
  return { root, load };
}
