import { Command, CommanderError, Help, type HelpConfiguration, Option } from 'commander';
import {
  describeSetting,
  looksSecret,
  type Setting,
  secretAdvice,
  usage,
} from '../input/settings.ts';
import { commonOptionsOf, leadingOptions, sharedGroups } from '../input/shared.ts';
import type { Io, Output } from '../terminal/io.ts';
import { wrapText } from '../terminal/wrap.ts';
import { describeExtraWords } from './extra-words.ts';
import { addAliases } from './option-aliases.ts';
import type { Argument, Arguments, CommandSpec, CommandTree, Verbs } from './spec.ts';

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
const optionsTopic = 'signage help options';
const tokenAdvice =
  'A token never belongs in the command line: use --token-file, SIGNAGE_TOKEN, or signage login.';

/** Keeps the column of options and arguments narrow. A longer term gets its own line. */
const helpLayout: HelpConfiguration = {
  argumentTerm(argument) {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  },
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

const forms: Record<Argument['form'], (name: string) => string> = {
  one: (name) => `<${name}>`,
  optional: (name) => `[${name}]`,
  many: (name) => `<${name}...>`,
  some: (name) => `[${name}...]`,
};

/** Formats an argument for usage lines and for commander. */
export const argumentTerm = (name: string, { form }: Argument) => forms[form](name);

const widthOf = ({ columns }: Output) => Math.max(minWidth, columns ?? defaultWidth);

function makeCommand(name: string, { stdout, stderr }: Outputs): Command {
  return new Command(name)
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp(helpLayout)
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => {},
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

function addOptions(command: Command, settings: Settings): void {
  for (const setting of Object.values(settings)) {
    const option = new Option(setting.flags, describeSetting(setting));
    const once = (value: string, before: string | undefined) => {
      if (before !== undefined) throw usage(`${option.long} is given twice, and takes one value.`);
      return value;
    };
    const add = (value: string, before: string[] | undefined) => [...(before ?? []), value];
    if (setting.repeatable) option.argParser(add);
    else if (option.required || option.optional) option.argParser(once);
    if (option.optional) option.preset('');
    command.addOption(option);
  }
}

function addArguments(command: Command, all: Arguments = {}): void {
  for (const [name, argument] of Object.entries(all))
    command.argument(argumentTerm(name, argument), argument.help);
}

const examplesText = (examples: CommandSpec['examples']) =>
  `\nExamples:\n${examples.map(([line, what]) => `  # ${what}\n  ${line}`).join('\n')}`;

const moreHelp = (name: string) => `${name} <command> --help describes a command, with examples.`;

/** Makes the command `signage`, which lists all commands and nouns. */
export function rootCommand(
  { single, nouns }: Pick<CommandTree, 'single' | 'nouns'>,
  version: string,
  io: Outputs,
): Command {
  const root = makeCommand('signage', io)
    .usage('<command> [options]')
    .description(
      `Digital signage: pair TVs with screens, serve playlists, collect proof of play.\n\n${moreHelp('signage')}`,
    )
    .version(version, '-V, --version', 'show the version');
  addOptions(root, leadingOptions);
  root.commandsGroup('Commands:');
  for (const [word, summary] of Object.entries(single)) root.command(word).summary(summary);
  root.commandsGroup('Records:');
  for (const [noun, summary] of Object.entries(nouns)) root.command(noun).summary(summary);
  return root;
}

/** Makes the command `signage <noun>`, which lists its verbs. */
export function nounCommand(
  noun: string,
  summary: string | undefined,
  verbs: Verbs,
  io: Outputs,
): Command {
  const name = `signage ${noun}`;
  const command = makeCommand(name, io)
    .usage('<command> [options]')
    .description(`${summary}.\n\n${moreHelp(name)}`);
  for (const [verb, spec] of Object.entries(verbs))
    addArguments(command.command(verb).summary(spec.summary), spec.arguments);
  const examples = Object.values(verbs).flatMap((spec) => spec.examples.slice(0, 1));
  return command.addHelpText('after', examplesText(examples.slice(0, maxNounExamples)));
}

/** Prints the help of the options that most commands share. */
export function showSharedOptions(io: Outputs): void {
  const command = makeCommand(optionsTopic, io)
    .helpOption(false)
    .usage('')
    .description('The options that most commands share.');
  for (const [group, settings] of Object.entries(sharedGroups)) {
    command.optionsGroup(`${group}:`);
    addOptions(command, settings);
  }
  command.outputHelp();
}

/** Makes a command with its arguments, its options and its help. */
export function specCommand(name: string, spec: CommandSpec, io: Outputs): Command {
  const { summary, description, examples, options = {} } = spec;
  const terms = Object.entries(spec.arguments ?? {}).map(([word, one]) => argumentTerm(word, one));
  const required = Object.values(options).filter((setting) => setting.required);
  const about = description === undefined ? '' : `\n\n${unwrapped(description)}`;
  const command = makeCommand(name, io)
    .usage([...terms, ...required.map(({ flags }) => flags), '[options]'].join(' '))
    .description(`${summary}.${about}`);
  addArguments(command, spec.arguments);
  addOptions(command, options);
  const common = commonOptionsOf(spec);
  const isShared = (setting: Setting<unknown>) =>
    Object.values(sharedGroups).some((group) => Object.values(group).includes(setting));
  const settings = Object.values(common).flatMap((group) => Object.entries(group));
  addOptions(command, Object.fromEntries(settings.filter(([, one]) => !isShared(one))));
  command.optionsGroup(sharedHeading);
  addOptions(command, Object.fromEntries(settings.filter(([, one]) => isShared(one))));
  addAliases(command);
  return command.addHelpText(
    'after',
    sharedText(Object.keys(common), widthOf(io.stdout)) + examplesText(examples),
  );
}

/** Names an option of each shared group: `Shared options (-o, --quiet, --url, …)`. */
function sharedText(groups: readonly string[], width: number): string {
  const flags = groups.map((group) => {
    const [first] = Object.values(sharedGroups[group] ?? {});
    return first?.flags.split(/[ ,]/, 1)[0];
  });
  if (flags.length === 0) return '';
  return `\n${wrapText(`Shared options (${flags.join(', ')}, …): ${optionsTopic}`, width)}\n`;
}

/** A clearer message for a mistake than the message of commander. */
interface Explanation {
  /** Replaces the message of commander. Default: that message. */
  message?: string;
  /** Sentences before the reference to the help, with a space at the end. */
  advice: string;
}

/** Explains a wrong number of arguments. */
export function explainArguments(command: Command, spec: CommandSpec, words: readonly string[]) {
  return ({ code, message: text }: CommanderError): Explanation | undefined => {
    if (code === 'commander.unknownOption' && text.includes("'--token'"))
      return { advice: `${tokenAdvice} ` };
    if (code === 'commander.excessArguments') return describeExtraWords(command, spec, words);
    const missing = command.registeredArguments[command.args.length];
    if (code !== 'commander.missingArgument' || !missing) return undefined;
    const message = `The argument <${missing.name()}> is missing: ${missing.description}.`;
    return { message, advice: '' };
  };
}

/**
 * Explains a mistake such as `--force=yes`: a value for a flag, or for an unknown option. Does not
 * repeat the value. `text` is the message of commander.
 */
function explainValue(command: Command, text: string): Explanation | undefined {
  const found = /^unknown option '(--[^=]+)=.*'( \(Did you mean .*\))?$/s.exec(text);
  if (!found) return undefined;
  const [, flag, suggestion = ''] = found;
  const isKnown = command.options.some(({ long }) => long === flag);
  const message = isKnown
    ? `The option ${flag} takes no value`
    : `unknown option '${flag}'${suggestion}`;
  return { message, advice: '' };
}

/** Hides all words of the command line in an explanation if one looks like a secret. */
function withoutSecrets({ message, advice }: Required<Explanation>, text: string) {
  const isTold = looksSecret(message + advice);
  if (!isTold && !looksSecret(text)) return { message, advice };
  return {
    message: isTold ? message.replace(/\s*[:'"].*/s, '') : message,
    advice: `${secretAdvice} `,
  };
}

/**
 * Parses the words after a command. If they ask for help or the version, prints it and returns the
 * exit code. Throws `usage`, with a suggestion for a mistyped word. `explain` may replace the
 * message and add advice.
 */
export function parseWords(
  command: Command,
  words: readonly string[],
  explain: (error: CommanderError) => Explanation | undefined = () => undefined,
): number | undefined {
  try {
    command.parse(words, { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    // A command was given without the required word, so commander printed its help.
    if (error.code === 'commander.help') return 2;
    const text = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
    const explained = explainValue(command, text) ?? explain(error);
    const { message, advice } = withoutSecrets({ message: text, advice: '', ...explained }, text);
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
    throw usage(
      /[.?)]$/.test(sentence) ? sentence : `${sentence}.`,
      `${advice}See ${command.name()} --help.`,
    );
  }
}
