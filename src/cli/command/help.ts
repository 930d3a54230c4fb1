import { type DescribedSetting, describeSetting } from '../options/settings.ts';
import { commonOptionsOf } from '../options/shared.ts';
import type { Argument, Description } from './spec.ts';
import { type Branch, type CommandPath, tree } from './tree.ts';

const defaultWidth = 80;
/** On narrower terminals the terminal wraps the lines. */
const minWidth = 40;
const maxTermWidth = 26;

type Row = readonly [term: string, text: string];

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Wraps each paragraph. A paragraph with indented lines stays unchanged. */
function paragraphs(text: string, width: number): string {
  const one = (paragraph: string) =>
    /^\s/m.test(paragraph) ? paragraph : wrap(paragraph.replaceAll('\n', ' '), width).join('\n');
  return text.split('\n\n').map(one).join('\n\n');
}

/** Formats terms and their texts as two columns. A term that is too long gets its own line. */
function section(title: string, rows: readonly Row[], width: number): string {
  if (rows.length === 0) return '';
  const column =
    Math.min(maxTermWidth, Math.floor(width / 3), Math.max(...rows.map(([term]) => term.length))) +
    2;
  const lines = rows.flatMap(([term, text]) => {
    const [first = '', ...more] = wrap(text, width - 2 - column);
    const beside =
      term.length + 2 <= column
        ? [`${term.padEnd(column)}${first}`]
        : [term, ' '.repeat(column) + first];
    return [...beside, ...more.map((line) => ' '.repeat(column) + line)];
  });
  return `\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

const forms: Record<Argument['form'], (name: string) => string> = {
  one: (name) => `<${name}>`,
  optional: (name) => `[${name}]`,
  many: (name) => `<${name}...>`,
  some: (name) => `[${name}...]`,
};

/** Returns an argument in the syntax of usage lines and of commander. */
export const argumentTerm = (name: string, { form }: Argument) => forms[form](name);

const argumentRows = ({ arguments: all = {} }: Description): Row[] =>
  Object.entries(all).map(([name, argument]) => [argumentTerm(name, argument), argument.help]);
const optionRows = (settings: Readonly<Record<string, DescribedSetting>>): Row[] =>
  Object.values(settings).map((setting) => [setting.flags, describeSetting(setting)]);

const helpRow: Row = ['-h, --help', 'show this help'];

function overview(width: number): string {
  const rows = (isNoun: boolean): Row[] =>
    tree.flatMap(({ name, summary, verbs }): Row[] =>
      verbs.length > 0 === isNoun ? [[name, summary]] : [],
    );
  return [
    'Usage: signage <command> [options]\n\n',
    `${paragraphs('Digital signage: pair TVs with screens, serve playlists, collect proof of play.', width)}\n`,
    section('Commands', rows(false), width),
    section('Records', rows(true), width),
    section('Options', [['-V, --version', 'show the version'], helpRow], width),
    `\n${paragraphs('signage <command> --help describes a command, with examples.', width)}\n`,
  ].join('');
}

function nounHelp(
  { name, summary }: Branch,
  verbs: readonly (readonly [verb: string, of: Description])[],
  width: number,
): string {
  const rows = verbs.map(
    ([verb, of]): Row => [[verb, ...argumentRows(of).map(([term]) => term)].join(' '), of.summary],
  );
  return [
    `Usage: signage ${name} <command> [options]\n\n${paragraphs(`${summary}.`, width)}\n`,
    section('Commands', rows, width),
    section('Options', [helpRow], width),
    `\n${paragraphs(`signage ${name} <command> --help describes a command, with examples.`, width)}\n`,
  ].join('');
}

function commandHelp(path: CommandPath, of: Description, width: number): string {
  const own: readonly DescribedSetting[] = Object.values(of.options ?? {});
  const required = own.filter((setting) => setting.required).map(({ flags }) => flags);
  const usage = [
    'signage',
    ...path,
    ...argumentRows(of).map(([term]) => term),
    ...required,
    '[options]',
  ].filter(Boolean);
  const common = Object.entries(commonOptionsOf(of)).map(([group, settings]) =>
    section(group, optionRows(settings), width),
  );
  const about =
    of.description === undefined ? `${of.summary}.` : `${of.summary}.\n\n${of.description}`;
  const examples = of.examples.map(([line, what]) => `  # ${what}\n  ${line}\n`);
  return [
    `Usage: ${usage.join(' ')}\n\n${paragraphs(about, width)}\n`,
    section('Arguments', argumentRows(of), width),
    section('Options', [...optionRows(of.options ?? {}), helpRow], width),
    ...common,
    `\nExamples:\n${examples.join('')}`,
  ].join('');
}

/** Returns the help of the program, of a noun, or of a command, wrapped at `columns`. */
export async function helpText(
  [noun, verb]: readonly [noun?: string, verb?: string],
  describe: (path: CommandPath) => Description | Promise<Description>,
  columns: number = defaultWidth,
): Promise<string> {
  const width = Math.max(minWidth, columns);
  const branch = tree.find(({ name }) => name === noun);
  if (branch === undefined) return overview(width);
  if (verb !== undefined)
    return commandHelp([branch.name, verb], await describe([branch.name, verb]), width);
  if (branch.verbs.length === 0)
    return commandHelp([branch.name], await describe([branch.name]), width);
  const verbs = await Promise.all(
    branch.verbs.map(async (one) => [one, await describe([branch.name, one])] as const),
  );
  return nounHelp(branch, verbs, width);
}
