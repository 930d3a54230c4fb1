import { loadVerbs, nouns, single } from './tree.ts';

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

const maxOffered = 3;

/** Returns the noun that a word means: `screens` means `screen`. */
function nounOf(word: string | undefined): string | undefined {
  return [word, word?.replace(/s$/, '')].find((one) => one && Object.hasOwn(nouns, one));
}

async function verbOf(noun: string, word: string | undefined): Promise<string | undefined> {
  const verbs = (await loadVerbs(noun)) ?? {};
  const meant = word !== undefined && Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  return [word, meant].find((one) => one && Object.hasOwn(verbs, one));
}

/**
 * Returns the commands that a line may mean if its first word is not a command. That word may be a
 * plural, a verb before its noun, or a verb alone. Returns at most three commands.
 *
 * @example await meantCommands('list', 'screens') // ['screen list']
 */
export async function meantCommands(first: string, second: string | undefined): Promise<string[]> {
  const noun = nounOf(first);
  if (noun) return [[noun, await verbOf(noun, second)].filter(Boolean).join(' ')];
  const after = nounOf(second);
  const verb = after && (await verbOf(after, first));
  if (verb) return [`${after} ${verb}`];
  const commands: string[] = [];
  for (const one of Object.keys(nouns)) {
    const known = await verbOf(one, first);
    if (known) commands.push(`${one} ${known}`);
  }
  return commands.slice(0, maxOffered);
}

/** Returns the command that a word after a noun may mean, if it is not one of its verbs. */
export async function meantVerbs(noun: string, word: string): Promise<string[]> {
  const verb = await verbOf(noun, word);
  if (verb) return [`${noun} ${verb}`];
  return Object.hasOwn(single, word) ? [word] : [];
}
