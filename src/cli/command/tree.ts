import { type Operation, operations } from '../../wire/operations.ts';

/** The words of a command: `['venue', 'list']` or `['serve']`. */
export type CommandPath = readonly [string, string?];

/** Nouns and their summaries, for the overview. */
const nouns: Readonly<Record<string, string>> = {
  venue: 'Places with screens',
  screen: 'The screens of a venue',
  device: 'TVs that are or were paired with screens',
  code: 'Pairing codes',
  playlist: 'The playlists of screens',
  config: 'The config of TVs, by tenant, venue and screen',
  event: 'Events that TVs report',
  report: 'Totals of what was played',
  audit: 'The audit trail: who changed what',
  tenant: 'Tenants, for platform tokens',
  token: 'Management tokens',
  data: 'Backups of the service and its data folder',
  store: 'The data store of the service',
  wait: 'Wait until a screen or device is in a state',
  context: 'Saved services and tokens',
};

/** Commands of one word and their summaries. A test compares them with those of the commands. */
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

/** Commands of two words without an operation of the service. */
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

/** A word after `signage`: a noun with its verbs, or a command without verbs. */
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

/** The command tree, as data. No command is loaded for it. */
export const tree: readonly Branch[] = [
  ...Object.entries(single).map(([name, summary]) => ({ name, summary, verbs: [] })),
  ...Object.entries(nouns).map(([name, summary]) => ({ name, summary, verbs: verbsOf(name) })),
];

/** The paths of all commands. */
export const commandPaths: readonly CommandPath[] = tree.flatMap(
  ({ name, verbs }): CommandPath[] =>
    verbs.length === 0 ? [[name]] : verbs.map((verb) => [name, verb]),
);
