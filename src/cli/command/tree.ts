import { type Operation, operations } from '../../wire/operations.ts';

/** A command by its words: `['venue', 'list']`, or `['serve']`. */
export type CommandPath = readonly [string, string?];

/** The nouns, as the overview shows them. */
const nouns: Readonly<Record<string, string>> = {
  venue: 'The places that have screens',
  screen: 'The screens of a venue',
  device: 'The TVs that are, or were, bound to screens',
  code: 'Pairing codes',
  playlist: 'What a screen plays',
  config: 'Settings of TVs, by tenant, venue and screen',
  event: 'What TVs report',
  report: 'Sums of what was played',
  audit: 'Who changed what',
  tenant: 'Tenants, for platform tokens',
  token: 'Management tokens',
  data: 'Backups of the service and its data folder',
  store: 'Where the service keeps its data',
  wait: 'Wait until a screen or device is in a state',
  context: 'Services and tokens that are kept under a name',
};

/** Commands of one word, as the overview shows them; a test holds the texts equal to those of the commands. */
const single: Readonly<Record<string, string>> = {
  serve: 'Run the service',
  pair: 'Pair a TV with a screen, step by step',
  login: 'Save the token of a service',
  logout: 'Delete the saved token of a service',
  whoami: 'Show which token and which service commands use',
  doctor: 'Find out why something does not work, and what to do',
  apply: 'Apply site files to a service',
  diff: 'Show what apply would change',
  export: 'Export a service as a site file',
  api: 'Send any request to the service',
  tv: 'Run one simulated TV',
  simulate: 'Run a fleet of simulated TVs and check what the service stored',
  conformance: 'Check whether a deployment follows the protocol',
  completion: 'Print the completion script of a shell',
};

/** Commands of two words that are no operation of the service. */
const further: readonly CommandPath[] = [
  ['playlist', 'rollback'],
  ['device', 'replace'],
  ['audit', 'verify'],
  ['data', 'restore'],
  ['data', 'check'],
  ['data', 'repair'],
  ['store', 'copy'],
  ['store', 'migrate'],
  ['wait', 'screen'],
  ['wait', 'device'],
  ['context', 'list'],
  ['context', 'use'],
  ['context', 'delete'],
];

/** A word after `signage`: a noun with its verbs, or a command of its own, which has none. */
export interface Branch {
  name: string;
  summary: string;
  verbs: readonly string[];
}

function verbsOf(noun: string): readonly string[] {
  const ofOperations = Object.values<Operation>(operations).flatMap(({ command }) =>
    command?.[0] === noun ? [command[1]] : [],
  );
  const ofOthers = further.flatMap(([first, verb]) =>
    first === noun && verb !== undefined ? [verb] : [],
  );
  return [...new Set([...ofOperations, ...ofOthers])];
}

/** The whole command tree, as data: nothing of a command is loaded for it. */
export const tree: readonly Branch[] = [
  ...Object.entries(single).map(([name, summary]) => ({ name, summary, verbs: [] })),
  ...Object.entries(nouns).map(([name, summary]) => ({ name, summary, verbs: verbsOf(name) })),
];

/** Every command there is. */
export const commandPaths: readonly CommandPath[] = tree.flatMap(
  ({ name, verbs }): CommandPath[] =>
    verbs.length === 0 ? [[name]] : verbs.map((verb) => [name, verb]),
);
