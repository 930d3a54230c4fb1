import type { Argument, CommandSpec } from './command-spec.ts';
import { commonOptionsOf } from './common-options.ts';
import { describeSetting, type Setting } from './settings.ts';
import { type Branch, type CommandPath, tree } from './tree.ts';

const lineWidth = 80;
const longestTerm = 26;

type Row = readonly [term: string, text: string];

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Paragraphs in lines that fit; one that has indented lines stays as it is written. */
function paragraphs(text: string): string {
  const one = (paragraph: string) => (/^\s/m.test(paragraph) ? paragraph : wrap(paragraph.replaceAll('\n', ' '), lineWidth).join('\n'));
  return text.split('\n\n').map(one).join('\n\n');
}

/** Terms and what they mean, side by side; a term that is too long for its column has a line of its own. */
function section(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const column = Math.min(longestTerm, Math.max(...rows.map(([term]) => term.length))) + 2;
  const lines = rows.flatMap(([term, text]) => {
    const [first = '', ...more] = wrap(text, lineWidth - 2 - column);
    const beside = term.length + 2 <= column ? [`${term.padEnd(column)}${first}`] : [term, ' '.repeat(column) + first];
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

/** An argument as usage lines show it, and as commander takes it. */
export const argumentTerm = (name: string, { form }: Argument) => forms[form](name);

const argumentRows = (spec: CommandSpec): Row[] =>
  Object.entries(spec.arguments ?? {}).map(([name, argument]) => [argumentTerm(name, argument), argument.help]);
const optionRows = (settings: Readonly<Record<string, Setting<unknown>>>): Row[] =>
  Object.values(settings).map((setting) => [setting.flags, describeSetting(setting)]);

const helpRow: Row = ['-h, --help', 'show this help'];

/** What `signage --help` says. */
export function overview(): string {
  const rows = (isNoun: boolean): Row[] =>
    tree.flatMap(({ name, summary, verbs }): Row[] => (verbs.length > 0 === isNoun ? [[name, summary]] : []));
  return [
    'Usage: signage <command> [options]\n\nDigital signage: pair TVs with screens, serve playlists, collect proof of play.\n',
    section('Commands', rows(false)),
    section('Records', rows(true)),
    section('Options', [['-V, --version', 'show the version'], helpRow]),
    '\nsignage <command> --help says more of each, with examples.\n',
  ].join('');
}

/** What `signage venue --help` says. */
export function nounHelp({ name, summary }: Branch, verbs: readonly (readonly [verb: string, spec: CommandSpec])[]): string {
  const rows = verbs.map(([verb, spec]): Row => [[verb, ...argumentRows(spec).map(([term]) => term)].join(' '), spec.summary]);
  return [
    `Usage: signage ${name} <command> [options]\n\n${summary}.\n`,
    section('Commands', rows),
    section('Options', [helpRow]),
    `\nsignage ${name} <command> --help says more of each, with examples.\n`,
  ].join('');
}

/** What `signage venue create --help` says. */
export function commandHelp(path: CommandPath, spec: CommandSpec): string {
  const own: readonly Setting<unknown>[] = Object.values(spec.options ?? {});
  const required = own.filter((setting) => setting.required).map(({ flags }) => flags);
  const usage = ['signage', ...path, ...argumentRows(spec).map(([term]) => term), ...required, '[options]'].filter(Boolean);
  const common = Object.entries(commonOptionsOf(spec)).map(([group, settings]) => section(group, optionRows(settings)));
  const examples = spec.examples.map(([line, what]) => `  # ${what}\n  ${line}\n`);
  return [
    `Usage: ${usage.join(' ')}\n\n${spec.summary}.\n${spec.description === undefined ? '' : `\n${paragraphs(spec.description)}\n`}`,
    section('Arguments', argumentRows(spec)),
    section('Options', [...optionRows(spec.options ?? {}), helpRow]),
    ...common,
    `\nExamples:\n${examples.join('')}`,
  ].join('');
}
