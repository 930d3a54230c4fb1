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

/** First words that people type, and the commands that do what they probably expect. */
const expected: Readonly<Record<string, readonly string[]>> = {
  backup: ['data backup'],
  dashboard: ['status --watch'],
  demo: ['serve --demo'],
  deploy: ['apply -f site.yaml'],
  health: ['doctor'],
  import: ['apply -f site.yaml'],
  info: ['status', 'whoami'],
  init: ['serve', 'apply -f site.yaml'],
  monitor: ['status --watch'],
  play: ['tv'],
  player: ['tv', 'pair --qr-web'],
  register: ['pair'],
  restore: ['data restore'],
  run: ['serve'],
  schedule: ['playlist publish --valid-until'],
  show: ['status', 'screen get', 'playlist get'],
  start: ['serve'],
  tail: ['event list --follow', 'logs --follow'],
  up: ['serve'],
  upload: ['playlist publish'],
  user: ['token create'],
  users: ['token list'],
  watch: ['status --watch', 'event list --follow'],
};

const howToStop = 'Ctrl-C stops signage serve, where it runs; systemctl stop stops its unit.';
/** First words for which there is no command, and what to do instead. */
const advice: Readonly<Record<string, string>> = {
  kill: howToStop,
  restart: howToStop,
  shutdown: howToStop,
  stop: howToStop,
};

const maxOffered = 3;

const question = (commands: readonly string[]) =>
  commands.length === 0
    ? undefined
    : `Did you mean ${commands.map((one) => `signage ${one}`).join(' or ')}?`;

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
 */
async function commandsFor(first: string, second: string | undefined): Promise<readonly string[]> {
  const noun = nounOf(first);
  if (noun) return [[noun, await verbOf(noun, second)].filter(Boolean).join(' ')];
  const after = nounOf(second);
  const verb = after && (await verbOf(after, first));
  if (verb) return [`${after} ${verb}`];
  const known = Object.hasOwn(expected, first) ? expected[first] : undefined;
  if (known) return known;
  const commands: string[] = [];
  for (const one of Object.keys(nouns)) {
    const known = await verbOf(one, first);
    if (known) commands.push(`${one} ${known}`);
  }
  return commands.slice(0, maxOffered);
}

/**
 * Returns advice for a line whose first word is not a command. `undefined` if nothing is likely.
 *
 * @example await meantCommands('list', 'screens') // 'Did you mean signage screen list?'
 */
export async function meantCommands(
  first: string,
  second: string | undefined,
): Promise<string | undefined> {
  return Object.hasOwn(advice, first) ? advice[first] : question(await commandsFor(first, second));
}

/** Returns advice for a word after a noun that is not one of its verbs. */
export async function meantVerbs(noun: string, word: string): Promise<string | undefined> {
  const verb = await verbOf(noun, word);
  if (verb) return question([`${noun} ${verb}`]);
  return Object.hasOwn(single, word) ? question([word]) : undefined;
}
