import type { CommandSpec, CommandTree, Verbs } from './program/spec.ts';

/**
 * Commands of one word and their summaries. A test compares each summary with the `summary` of its
 * command.
 */
export const single: CommandTree['single'] = {
  serve: 'Run the service',
  pair: 'Pair a TV with a screen, step by step',
  show: 'Put pictures, videos and pages on a screen',
  login: 'Save the token of a service',
  logout: 'Delete the saved token of a service',
  whoami: 'Show which token and which service commands use',
  status: 'Show what is on each screen, and which screens show nothing',
  board: 'Show a page with what is on each screen',
  listen: 'Pass notices on to a program or a URL',
  logs: 'Show what TVs requested and how the service answered',
  explain: 'Explain what a screen plays at a time, and why',
  doctor: 'Find out why something does not work, and what to do',
  apply: 'Apply site files to a service',
  diff: 'Show what apply would change',
  export: 'Export a service as a site file',
  api: 'Send any request to the service',
  tv: 'Run one simulated TV',
  simulate: 'Run a fleet of simulated TVs and check what the service stored',
  record: 'Record the requests of a TV, and check them',
  conformance: 'Check whether a deployment, or a TV, follows the protocol',
  completion: 'Print the completion script of a shell',
};

export const nouns: CommandTree['nouns'] = {
  venue: 'Places with screens',
  screen: 'The screens of a venue',
  device: 'TVs that are or were paired with screens',
  code: 'Pairing codes',
  playlist: 'The playlists of screens',
  schedule: 'What plays when, on screens and in venues',
  takeover: 'What plays above everything else for a while',
  media: 'The pictures, videos and pages that the service keeps',
  config: 'The config of TVs, by tenant, venue and screen',
  event: 'Events that TVs report',
  notice: 'What the service tells: TVs that went dark, were paired, and more',
  webhook: 'Webhooks, which send notices to a URL',
  report: 'Totals of what was played',
  audit: 'The audit trail: who changed what',
  tenant: 'Tenants, for platform tokens',
  token: 'Management tokens',
  data: 'Backups of the service and its data folder',
  store: 'The data store of the service',
  wait: 'Wait until a screen or device is in a state',
  context: 'Saved services and tokens',
};

const commandFiles: Readonly<Record<string, () => Promise<CommandSpec>>> = {
  serve: async () => (await import('./commands/serve/serve.ts')).serve,
  pair: async () => (await import('./commands/pair/pair.ts')).pair,
  show: async () => (await import('./commands/media/media.ts')).show,
  login: async () => (await import('./commands/context/context.ts')).login,
  logout: async () => (await import('./commands/context/context.ts')).logout,
  whoami: async () => (await import('./commands/context/context.ts')).whoami,
  status: async () => (await import('./commands/status/status.ts')).status,
  board: async () => (await import('./commands/board/board.ts')).board,
  listen: async () => (await import('./commands/notice/notice.ts')).listen,
  logs: async () => (await import('./commands/logs.ts')).logs,
  explain: async () => (await import('./commands/schedule/explain.ts')).explain,
  doctor: async () => (await import('./commands/doctor/doctor.ts')).doctor,
  apply: async () => (await import('./commands/site/site.ts')).apply,
  diff: async () => (await import('./commands/site/site.ts')).diff,
  export: async () => (await import('./commands/site/site.ts')).exportCommand,
  api: async () => (await import('./commands/api.ts')).api,
  tv: async () => (await import('./commands/tv/tv.ts')).tv,
  simulate: async () => (await import('./commands/simulate/simulate.ts')).simulate,
  record: async () => (await import('./commands/record/record.ts')).record,
  conformance: async () => (await import('./commands/conformance/conformance.ts')).conformance,
  completion: async () =>
    (await import('./commands/completion/completion.ts')).completionOf({
      single,
      nouns,
      loadSingle,
      loadVerbs,
    }),
};

const nounFiles: Readonly<Record<string, () => Promise<Verbs>>> = {
  venue: async () => (await import('./commands/venue.ts')).venue,
  screen: async () => (await import('./commands/screen.ts')).screen,
  device: async () => (await import('./commands/device.ts')).device,
  code: async () => (await import('./commands/code.ts')).code,
  playlist: async () => (await import('./commands/playlist/playlist.ts')).playlist,
  schedule: async () => (await import('./commands/schedule/schedule.ts')).schedule,
  takeover: async () => (await import('./commands/schedule/takeover.ts')).takeover,
  media: async () => (await import('./commands/media/media.ts')).media,
  config: async () => (await import('./commands/config.ts')).config,
  event: async () => (await import('./commands/event.ts')).event,
  notice: async () => (await import('./commands/notice/notice.ts')).notice,
  webhook: async () => (await import('./commands/webhook.ts')).webhook,
  report: async () => (await import('./commands/report.ts')).report,
  audit: async () => (await import('./commands/audit/audit.ts')).audit,
  tenant: async () => (await import('./commands/tenant.ts')).tenant,
  token: async () => (await import('./commands/token/token.ts')).token,
  data: async () => (await import('./commands/data/data.ts')).data,
  store: async () => (await import('./commands/store.ts')).store,
  wait: async () => (await import('./commands/wait/wait.ts')).wait,
  context: async () => (await import('./commands/context/context.ts')).context,
};

export async function loadSingle(word: string): Promise<CommandSpec | undefined> {
  return Object.hasOwn(commandFiles, word) ? commandFiles[word]?.() : undefined;
}

export async function loadVerbs(noun: string): Promise<Verbs | undefined> {
  return Object.hasOwn(nounFiles, noun) ? nounFiles[noun]?.() : undefined;
}
