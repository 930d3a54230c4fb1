import { SignageError } from '../../domain/error.ts';
import type { ConnectionValues } from '../input/shared.ts';
import type { Io } from '../terminal/io.ts';
import { type Contexts, readContexts, type SavedContext } from './contexts.ts';
import { readTokenFile, type Warn } from './private-file.ts';
import { warnOfReadableToken } from './proxy.ts';
import { baseUrl, requireSafeAddress } from './service-url.ts';

/** A value and its source, such as `--url`, `SIGNAGE_URL` or `context local`. */
interface Sourced {
  value: string;
  source: string;
}

export interface Address {
  /** Name of the chosen context, if its URL has the same origin as `url`. */
  context: string | undefined;
  url: Sourced;
  caFile: string | undefined;
  insecureHttp: boolean;
}

/** The service to call, with the credentials. */
export interface Profile extends Address {
  token: Sourced | undefined;
  /** Id or name. */
  tenant: Sourced | undefined;
}

/** URL of a `signage serve` that runs with its default options. */
export const defaultUrl = 'http://127.0.0.1:4100';

const origin = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined);

interface ChosenContext {
  name: string | undefined;
  saved: SavedContext | undefined;
  /** The environment variables. Empty if `--context` is given, because it overrides them. */
  env: Io['env'];
}

function chooseContext(
  { contexts, current }: Contexts,
  flag: string | undefined,
  { env }: Pick<Io, 'env'>,
): ChosenContext {
  const given = flag ?? (env.SIGNAGE_CONTEXT || undefined);
  const name = given ?? current;
  const saved = name === undefined ? undefined : contexts[name];
  if (given !== undefined && saved === undefined) {
    throw new SignageError('context_not_found', `There is no context "${given}".`, {
      hint: 'signage context list shows all contexts.',
    });
  }
  return { name, saved, env: flag === undefined ? env : {} };
}

/**
 * Returns the token, if there is one. Throws `token_of_elsewhere` for a saved token if the origin
 * of `url` is not the origin of its context.
 */
async function findToken(
  { tokenFile }: ConnectionValues,
  url: Sourced,
  { name, saved, env }: ChosenContext,
  warn: Warn | undefined,
): Promise<Sourced | undefined> {
  if (tokenFile !== undefined)
    return { value: await readTokenFile(tokenFile, warn), source: '--token-file' };
  const fromEnvironment = env.SIGNAGE_TOKEN?.trim();
  if (fromEnvironment) return { value: fromEnvironment, source: 'SIGNAGE_TOKEN' };
  if (env.SIGNAGE_TOKEN_FILE) {
    return {
      value: await readTokenFile(env.SIGNAGE_TOKEN_FILE, warn),
      source: 'SIGNAGE_TOKEN_FILE',
    };
  }
  if (!saved) return undefined;
  if (origin(saved.url) === origin(url.value))
    return { value: saved.token, source: `context ${name}` };
  const message = `The token of the context ${name} belongs to ${origin(saved.url)}, and is not sent to ${url.value} (${url.source}).`;
  throw new SignageError('token_of_elsewhere', message, {
    hint: `Log in there, signage login --url ${url.value}, or set SIGNAGE_TOKEN.`,
  });
}

/** Returns the value of the flag, else of the environment variable, else of the saved context. */
function pick(
  flag: string | undefined,
  flagName: string,
  variable: string,
  saved: string | undefined,
  { name, env }: ChosenContext,
): Sourced | undefined {
  if (flag !== undefined) return { value: flag, source: flagName };
  const given = env[variable];
  if (given) return { value: given, source: variable };
  return saved === undefined ? undefined : { value: saved, source: `context ${name}` };
}

type AddressValues = Pick<ConnectionValues, 'url' | 'context' | 'caFile' | 'insecureHttp'>;

function addressOf(
  flags: AddressValues,
  chosen: ChosenContext,
): Address & { ofContext: SavedContext | undefined } {
  const { saved, name } = chosen;
  const given = pick(flags.url, '--url', 'SIGNAGE_URL', saved?.url, chosen) ?? {
    value: defaultUrl,
    source: 'default',
  };
  const url = { ...given, value: baseUrl(given.value) };
  const ofContext =
    saved !== undefined && origin(saved.url) === origin(url.value) ? saved : undefined;
  const insecureHttp = flags.insecureHttp || ofContext?.insecureHttp === true;
  requireSafeAddress(url.value, insecureHttp);
  const caFile = pick(
    flags.caFile,
    '--ca-file',
    'SIGNAGE_CA_FILE',
    ofContext?.caFile,
    chosen,
  )?.value;
  return { context: ofContext && name, url, caFile, insecureHttp, ofContext };
}

/** Whether a flag or a variable has a value. An empty variable counts as absent. */
const isGiven = (flag: string | undefined, ...variables: (string | undefined)[]) =>
  flag !== undefined || variables.some(Boolean);

/**
 * Reads the saved contexts and chooses one. Ignores an unusable file if flags and the environment
 * name no context and provide everything else (`isComplete`).
 */
async function readChosen(
  { context }: Pick<AddressValues, 'context'>,
  io: Pick<Io, 'env'>,
  isComplete: boolean,
): Promise<ChosenContext> {
  const contexts = await readContexts(io).catch((error: unknown) => {
    if (!isComplete || context !== undefined || io.env.SIGNAGE_CONTEXT) throw error;
    return { contexts: {} };
  });
  return chooseContext(contexts, context, io);
}

/** Like `readProfile`, but without the credentials. */
export async function readAddress(flags: AddressValues, io: Pick<Io, 'env'>): Promise<Address> {
  const { ofContext: _, ...address } = addressOf(
    flags,
    await readChosen(flags, io, isGiven(flags.url, io.env.SIGNAGE_URL)),
  );
  return address;
}

/**
 * Determines the service and the credentials. Flags override the environment, which overrides the
 * current context. A context named by `--context` overrides the environment, too. `warn` is called
 * if others can read the token: in its file, or at a proxy.
 */
export async function readProfile(
  flags: ConnectionValues,
  io: Pick<Io, 'env'>,
  warn?: Warn,
): Promise<Profile> {
  const { SIGNAGE_URL, SIGNAGE_TOKEN, SIGNAGE_TOKEN_FILE } = io.env;
  const hasToken = isGiven(flags.tokenFile, SIGNAGE_TOKEN?.trim(), SIGNAGE_TOKEN_FILE);
  const chosen = await readChosen(flags, io, isGiven(flags.url, SIGNAGE_URL) && hasToken);
  const { ofContext, ...address } = addressOf(flags, chosen);
  const token = await findToken(flags, address.url, chosen, warn);
  if (token && warn) warnOfReadableToken(address.url.value, io.env, warn);
  return {
    ...address,
    token,
    tenant: pick(flags.tenant, '--tenant', 'SIGNAGE_TENANT', ofContext?.tenant, chosen),
  };
}
