import type { Command } from 'commander';
import { tree } from './tree.ts';

/** Verbs of other programs, and the equivalent verbs of this program. */
const synonyms: Readonly<Record<string, string>> = {
  add: 'create',
  new: 'create',
  show: 'get',
  describe: 'get',
  ls: 'list',
  edit: 'update',
  rename: 'update',
  remove: 'delete',
  rm: 'delete',
  unpair: 'revoke',
};

/** First words that people type, and the commands that do what they probably expect. */
const expected: readonly (readonly [words: string, commands: readonly string[]])[] = [
  ['dashboard monitor', ['status --watch']],
  ['demo', ['serve --demo']],
  ['deploy import', ['apply -f site.yaml']],
  ['health', ['doctor']],
  ['info', ['status', 'whoami']],
  ['init', ['serve', 'apply -f site.yaml']],
  ['play', ['tv']],
  ['player', ['tv', 'pair --qr-web']],
  ['register', ['pair']],
  ['run start up', ['serve']],
  ['tail', ['event list --follow', 'logs --follow']],
  ['upload', ['playlist publish']],
  ['user', ['token create']],
  ['users', ['token list']],
  ['watch', ['status --watch', 'event list --follow']],
];

const stopWords = ['kill', 'restart', 'shutdown', 'stop'];
const howToStop = 'Ctrl-C stops signage serve, where it runs; systemctl stop stops its unit.';
const maxOffered = 3;

const question = (commands: readonly string[]) =>
  commands.length === 0
    ? undefined
    : `Did you mean ${commands.map((one) => `signage ${one}`).join(' or ')}?`;

/** Returns the noun that a word means: `screens` means `screen`. */
function nounOf(word: string | undefined): string | undefined {
  return [word, word?.replace(/s$/, '')].find((one) => one && Object.hasOwn(tree.nouns, one));
}

async function verbOf(noun: string, word: string | undefined): Promise<string | undefined> {
  const verbs = (await tree.loadVerbs[noun]?.()) ?? {};
  const meant = word !== undefined && Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  return [word, meant].find((one) => one && Object.hasOwn(verbs, one));
}

/**
 * Returns the commands that a line may mean if its first word is not a command. That word may be a
 * plural, a verb before its noun, or a verb alone. Returns at most three commands.
 */
async function commandsFor(first: string, second: string | undefined): Promise<readonly string[]> {
  const noun = nounOf(first);
  if (noun) return [[noun, await verbOf(noun, second)].filter(Boolean).join(' ')];
  const after = nounOf(second);
  const verb = after && (await verbOf(after, first));
  if (verb) return [`${after} ${verb}`];
  const [, known] = expected.find(([words]) => words.split(' ').includes(first)) ?? [];
  if (known) return known;
  const commands: string[] = [];
  for (const one of Object.keys(tree.nouns)) {
    const known = await verbOf(one, first);
    if (known) commands.push(`${one} ${known}`);
  }
  return commands.slice(0, maxOffered);
}

/**
 * Returns advice for a line with a word that `command` does not know: `signage`, or a noun.
 * `undefined` if nothing is likely.
 *
 * @example 'Did you mean signage screen list?' // for signage list screens
 */
export async function meantCommand(command: Command): Promise<string | undefined> {
  const [first = '', second] = command.args;
  if (command.parent) {
    const verb = await verbOf(command.name(), first);
    if (verb) return question([`${command.name()} ${verb}`]);
    return Object.hasOwn(tree.single, first) ? question([first]) : undefined;
  }
  return stopWords.includes(first) ? howToStop : question(await commandsFor(first, second));
}
