import type { CallArguments, ListId, ListItem, PlainInput } from '../../client/call.ts';
import { type FieldError, SignageError } from '../../domain/error.ts';
import { memberPath } from '../../domain/json/schema-issue.ts';
import { Examiner } from '../../media/examination/examiner.ts';
import { type CommandClient, largestPage, makeApiClient } from '../connection/client.ts';
import { connect } from '../connection/connect.ts';
import { readProfile } from '../connection/profile.ts';
import type { Flags } from '../input/settings.ts';
import { readSettings, requirePlainVariables, requireUtf8, usage } from '../input/settings.ts';
import { type CommonValues, commonOptions, connectionOptions } from '../input/shared.ts';
import { limitPages, makeResults } from '../output/results.ts';
import type { ProgramEnvironment } from '../terminal/environment.ts';
import { isJson } from '../terminal/format.ts';
import { memoize } from '../terminal/memoize.ts';
import { makePrompter } from '../terminal/prompter.ts';
import { shellQuote } from '../terminal/text.ts';
import { writeMessage } from '../terminal/wrap.ts';
import type { CommandContext, CommandHooks } from './context.ts';
import { hintOfFile, hintOfName } from './extra-words.ts';
import { emptyText } from './first-step.ts';
import type { Arguments, ArgumentValues, CommandSpec, Options } from './spec.ts';

/**
 * Suffixes that a request member may add to the name of its option: `s` in `labels` for the option
 * `label`.
 */
const memberEndings = ['', 's', 'Id', 'Ids', 'At'];

/** Phrases of the service that name a part of a request, and the flag that sets it. */
const phrases: readonly (readonly [ofService: string | RegExp, flag: string])[] = [
  [/ \(POST \/v1\/devices\/\S+\/revoke\)/, ''],
  ['?force=true', '--force'],
  ['the header X-Tenant-Id', '--tenant'],
];

/** Names flags in a message of the service, instead of parts of a request. */
const inFlagWords = (message: string): string =>
  phrases.reduce((text, [ofService, flag]) => text.replace(ofService, flag), message);

/** Splits the path of a field error: `/labels/floor` or `query.limit`. */
function partsOf(path: string): string[] {
  if (path.startsWith('query.')) return [path.slice('query.'.length)];
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the flag that sets a member of a request. If no flag sets it, returns its path. */
function shownPath(path: string, options: Options): string {
  const parts = partsOf(path);
  const [member, ...inner] = parts;
  const [, option] =
    Object.entries(options).find(([name]) =>
      memberEndings.some((ending) => `${name}${ending}` === member),
    ) ?? [];
  const flag = option && /--[\w-]+(?= |$)/.exec(option.flags)?.[0];
  if (flag !== undefined) return [flag, ...(inner.length > 0 ? [memberPath(inner)] : [])].join(' ');
  return parts.length > 0 ? memberPath(parts) : path;
}

/**
 * Rewrites an error of the service for a user of the command line. `--timezone` replaces
 * `/timezone`, and members without a flag become `items[0].duration`.
 */
function forFlags(error: SignageError, options: Options): SignageError {
  const { code, errors = [], status } = error;
  if (status === undefined) return error;
  const shown = errors.map(({ path, message }): FieldError => {
    return { path: shownPath(path, options), message };
  });
  const [first] = errors;
  const start = first?.path ? `${first.path}: ` : '';
  const message = error.message.startsWith(start)
    ? `${start && `${shown[0]?.path}: `}${error.message.slice(start.length)}`
    : error.message;
  return new SignageError(code, inFlagWords(message), {
    ...error,
    cause: error.cause,
    ...(error.errors && { errors: shown }),
  });
}

/** Returns the pages of a list up to `--limit`. */
function limitedPages<I extends ListId>(
  service: CommandClient,
  limit: number | undefined,
  ...[id, input]: [id: I, ...CallArguments<I>]
): AsyncGenerator<readonly ListItem<I>[]> {
  const plain: PlainInput = input ?? {};
  const query = { limit: Math.min(limit ?? largestPage, largestPage), ...plain.query };
  const pages = service.pages(id, ...([{ ...plain, query }] as unknown as CallArguments<I>));
  return limitPages(pages, limit);
}

function argumentValues(spec: CommandSpec, given: readonly unknown[]): ArgumentValues<Arguments> {
  const named = Object.keys(spec.arguments ?? {}).map((name, at) => [name, given[at]] as const);
  for (const [name, value] of named) requireUtf8(String(value), `The argument <${name}>`);
  return Object.fromEntries(named) as ArgumentValues<Arguments>;
}

function makeConfirmations(
  prompter: CommandContext['prompter'],
  { yes, dryRun }: CommonValues,
): Pick<CommandContext, 'confirmDestruction' | 'confirmChange'> {
  const ask = async (question: string) => {
    if (await prompter.confirm({ message: question, flag: '--yes' })) return;
    throw new SignageError('declined', 'Nothing was changed.');
  };
  return {
    async confirmDestruction(question) {
      if (yes || dryRun) return;
      if (!prompter.canAsk) throw usage(`${question} Questions cannot be asked here: give --yes.`);
      await ask(question);
    },
    async confirmChange(question) {
      if (!yes && !dryRun && prompter.canAsk) await ask(question);
    },
  };
}

/** Makes the context of a command. Connects to the service at the first request of the command. */
function makeCommandContext(
  spec: CommandSpec<Arguments, Options>,
  args: ArgumentValues<Arguments>,
  flags: Flags,
  environment: ProgramEnvironment,
  { examiner, ...hooks }: CommandHooks & { examiner: Examiner },
): CommandContext {
  const { io, interrupted } = environment;
  requirePlainVariables(io.env);
  const common: CommonValues = readSettings(commonOptions, flags, io.env);
  if (common.output === 'html' && !spec.hasPage)
    throw usage('-o html works only with report impressions: other results are no pages.');
  const results = makeResults(environment, common);
  const prompter = makePrompter(io, common, interrupted);
  const note = (text: string) => {
    if (!common.quiet) writeMessage(io.stderr, text);
  };
  const profile = memoize(async () =>
    readProfile(readSettings(connectionOptions, flags, {}), io, note),
  );
  const service = makeApiClient({
    connect: memoize(async () => connect(await profile(), environment, common)),
    plan: common.dryRun ? results.planned : undefined,
    beforeChange: hooks.beforeChange,
    signal: interrupted,
  });
  return {
    ...environment,
    ...service,
    args,
    options: readSettings(spec.options ?? {}, flags, io.env),
    common,
    flags,
    results,
    prompter,
    profile,
    list: (id, view, ...input) =>
      results.list(
        limitedPages(service, common.limit, id, ...input),
        view,
        emptyText(id, input[0]),
      ),
    shownError: (error) => (isJson(common.output) ? error : forFlags(error, spec.options ?? {})),
    examine: (file) => examiner.examine(file, { signal: interrupted }),
    note,
    ...makeConfirmations(prompter, common),
    ...(hooks.checkAddress && { checkAddress: hooks.checkAddress }),
  };
}

/** Errors of a name that may be something else, see `hintOfName`. */
const notFoundCodes: readonly string[] = ['screen_not_found', 'venue_not_found'];

/** Replaces placeholders in a hint: `{venue}` by the value of the argument or option `venue`. */
function fillHint(hint: string, values: Flags): string {
  return hint.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    shellQuote(String(values[name] ?? name.toUpperCase())),
  );
}

/** Adds the hint of the command, or one about a name or a file, to an error that has no hint. */
function withHint(
  error: SignageError,
  spec: CommandSpec,
  args: ArgumentValues<Arguments>,
  flags: Flags,
): SignageError {
  const own = spec.hints?.[error.code];
  const hint =
    (notFoundCodes.includes(error.code) ? hintOfName(spec, args, flags) : undefined) ??
    error.hint ??
    (error.code === 'usage' ? hintOfFile(spec, args, flags) : undefined) ??
    (own && fillHint(own, { ...flags, ...args }));
  if (hint === error.hint) return error;
  return new SignageError(error.code, error.message, { ...error, cause: error.cause, hint });
}

/** Runs a command and returns its exit code. */
export async function runSpec(
  spec: CommandSpec,
  { given, flags }: { given: readonly unknown[]; flags: Flags },
  environment: ProgramEnvironment,
  hooks: CommandHooks = {},
): Promise<number> {
  const args = argumentValues(spec, given);
  const examiner = new Examiner();
  try {
    const call = makeCommandContext(spec, args, flags, environment, { examiner, ...hooks });
    const exitCode = await spec.run(call);
    await call.results.finish();
    return exitCode ?? 0;
  } catch (error) {
    if (!(error instanceof SignageError)) throw error;
    const shown = isJson(flags.output) ? error : forFlags(error, spec.options ?? {});
    throw withHint(shown, spec, args, flags);
  } finally {
    await examiner.close();
  }
}
