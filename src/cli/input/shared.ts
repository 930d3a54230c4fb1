import { formats, generalFormats } from '../terminal/format.ts';
import * as option from './option.ts';
import { type Setting, usage, type Values } from './settings.ts';

const separators: Readonly<Record<string, string>> = { ',': ',', ';': ';', tab: '\t', '\t': '\t' };

const separator: Setting<string | undefined> = {
  flags: '--separator <character>',
  help: "with -o csv: what separates cells: ',', ';' or tab; default: ',', or ';' with --decimal-comma",
  read(value, source) {
    const found = Object.hasOwn(separators, value) ? separators[value] : undefined;
    if (found === undefined) throw usage(`${source} must be one of , ; tab, not "${value}".`);
    return found;
  },
  initial: undefined,
};

/** Options for the spreadsheets of a country. */
export const csvOptions = {
  bom: option.flag('--bom', 'with -o csv: begin with a byte order mark, for Excel'),
  separator,
  decimalComma: option.flag('--decimal-comma', 'with -o csv: write 1,5 instead of 1.5'),
};

/** Options for the format of results. */
export const outputOptions = {
  output: {
    ...option.choice(generalFormats, '-o, --output <format>', 'format of the result'),
    read: option.choice(formats, '--output', '').read,
  },
  jq: option.text(
    '--jq <expression>',
    'pass the result, as JSON, through a jq expression; strings are printed without quotes',
  ),
  fields: option.text('--fields <paths>', 'only these members, such as id,name,labels.floor'),
  ...csvOptions,
};

/** Options for messages and questions. */
export const behaviourOptions = {
  quiet: option.flag('--quiet', 'print only results and errors'),
  verbose: option.flag('--verbose', 'show each request on stderr, without secrets'),
  ...option.withVariables({
    noInput: option.flag('--no-input', 'never ask; the default without a terminal, and under CI'),
  }),
};

/** Options for the service and the credentials. */
export const connectionOptions = {
  ...option.withVariables({
    url: option.text('--url <url>', 'URL of the service'),
    context: option.text('--context <name>', 'the saved service and token to use', 'context'),
    tenant: option.text('--tenant <tenant>', 'the tenant to act in, by id or name', 'tenant'),
    tokenFile: option.text(
      '--token-file <file>',
      'file with the management token; otherwise SIGNAGE_TOKEN or the context provides it',
    ),
    caFile: option.text('--ca-file <file>', 'more CA certificates to trust (PEM)'),
  }),
  insecureHttp: option.flag('--insecure-http', 'allow unencrypted http to other machines'),
};

/** How commands deal with a service that does not listen. */
export const retryOptions = option.withVariables({
  retry: option.duration(
    '10s',
    '--retry <time>',
    'how long to repeat a refused connection, such as during a restart; 0 is not at all',
  ),
});

/** Options of commands that change or destroy something. */
export const changeOptions = {
  yes: option.flag('-y, --yes', 'do not ask'),
  dryRun: option.flag('--dry-run', 'show the requests, and change nothing'),
};

/** Options of commands that list. */
export const listOptions = {
  limit: option.count(
    [1, 1_000_000_000],
    '--limit <number>',
    'maximum number of records; default: all',
  ),
};

/**
 * Options that may also precede the noun, as in `signage --url … venue list`. Each option takes a
 * value.
 */
export const leadingOptions = {
  output: outputOptions.output,
  url: connectionOptions.url,
  context: connectionOptions.context,
  tenant: connectionOptions.tenant,
};

/** The options that most commands share. `signage help options` describes them. */
export const sharedGroups: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  Result: outputOptions,
  Behaviour: behaviourOptions,
  Connection: { ...connectionOptions, ...retryOptions },
};

export const commonOptions = {
  ...outputOptions,
  ...behaviourOptions,
  ...changeOptions,
  ...listOptions,
  ...retryOptions,
};

/** The values of the shared options. An option that the command lacks has its default. */
export type CommonValues = Values<typeof commonOptions>;

/**
 * The connection options as given by flags. `profile.ts` combines them with the environment and the
 * saved context.
 */
export type ConnectionValues = Values<typeof connectionOptions>;

/**
 * The effect of a command, which selects its shared options.
 * - `reads`: changes nothing.
 * - `changes`: also takes `--dry-run` and `--yes`.
 * - `destroys`: the same, and asks without `--yes`.
 * - `alone`: takes none of the shared options.
 */
export type Effect = 'reads' | 'changes' | 'destroys' | 'alone';

/** The members of `CommandSpec` that select the shared options of a command. */
interface CommandKind {
  effect?: Effect;
  list?: boolean;
  local?: boolean;
}

/** Returns the shared options of a command, grouped as in its help. */
export function commonOptionsOf({
  effect = 'reads',
  list,
  local,
}: CommandKind): Record<string, Record<string, Setting<unknown>>> {
  if (effect === 'alone') return {};
  const change = effect === 'reads' ? {} : changeOptions;
  return {
    Result: { ...(list && listOptions), ...outputOptions },
    Behaviour: { ...change, ...behaviourOptions },
    ...(!local && { Connection: { ...connectionOptions, ...retryOptions } }),
  };
}
