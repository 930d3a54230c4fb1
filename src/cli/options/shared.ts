import * as option from './option.ts';
import { type Setting, text, type Values, yesNo } from './settings.ts';

const formats = ['table', 'wide', 'json', 'ndjson', 'yaml', 'csv', 'name'] as const;
export type Format = (typeof formats)[number];

/** How results look. */
export const outputOptions = {
  output: option.choice(formats, '-o, --output <format>', 'form of the result'),
  jq: option.text(
    '--jq <expression>',
    'pass the result, as JSON, through a jq expression; texts come out bare',
  ),
  fields: option.text('--fields <paths>', 'only these members, such as id,name,labels.floor'),
};

/** How much is said beside them. */
export const manner = {
  quiet: option.flag('--quiet', 'say nothing but results and errors'),
  verbose: option.flag('--verbose', 'show each request on stderr, without secrets'),
  noInput: yesNo('--no-input', 'SIGNAGE_NO_INPUT', 'never ask; as off a terminal and under CI'),
};

/** Which service is talked to, and as whom. */
export const connectionOptions = {
  url: text('--url <url>', 'SIGNAGE_URL', 'where the service is'),
  context: {
    ...text('--context <name>', 'SIGNAGE_CONTEXT', 'the saved service and token to use'),
    completes: 'context' as const,
  },
  tenant: {
    ...text('--tenant <tenant>', 'SIGNAGE_TENANT', 'the tenant to act in, by id or name'),
    completes: 'tenant' as const,
  },
  tokenFile: text(
    '--token-file <file>',
    'SIGNAGE_TOKEN_FILE',
    'file that holds the management token; else SIGNAGE_TOKEN does, or the context',
  ),
  caFile: text(
    '--ca-file <file>',
    'SIGNAGE_CA_FILE',
    'certificates (PEM) to trust beside the usual ones',
  ),
  insecureHttp: option.flag('--insecure-http', 'allow http to other machines, in clear'),
};

/** Of commands that change something. */
export const changeOptions = {
  dryRun: option.flag('--dry-run', 'show what would be sent, and change nothing'),
};

/** Of commands that destroy something. */
export const destructionOptions = { yes: option.flag('-y, --yes', 'do not ask') };

/** Of commands that list. */
export const listOptions = {
  limit: option.count([1, 1_000_000_000], '--limit <number>', 'at most so many; all unless given'),
};

export const commonOptions = {
  ...outputOptions,
  ...manner,
  ...changeOptions,
  ...destructionOptions,
  ...listOptions,
};

/** What the options that many commands share were given as; those that a command does not take have their initial value. */
export type CommonValues = Values<typeof commonOptions>;

/** As the flags alone say it: `profile.ts` puts the environment and the saved context beside them. */
export type ConnectionValues = Values<typeof connectionOptions>;

/**
 * What a command does. `reads`: changes nothing. `changes`: also takes `--dry-run`. `destroys`: also takes `--yes`, without which it asks.
 * `alone`: has no options but its own.
 */
export type Effect = 'reads' | 'changes' | 'destroys' | 'alone';

/** What of a command decides about its shared options. */
interface Kind {
  effect: Effect;
  list?: boolean;
  local?: boolean;
  raw?: boolean;
}

/** The shared options that a command takes, by the groups of its help. */
export function commonOptionsOf({
  effect,
  list,
  local,
  raw,
}: Kind): Record<string, Record<string, Setting<unknown>>> {
  if (effect === 'alone') return {};
  const change = effect === 'reads' ? {} : changeOptions;
  return {
    ...(!raw && { Result: { ...(list && listOptions), ...outputOptions } }),
    Manner: { ...(effect === 'destroys' && destructionOptions), ...change, ...manner },
    ...(!local && { Connection: connectionOptions }),
  };
}
