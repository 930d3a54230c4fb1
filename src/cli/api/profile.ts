import { SignageError } from '../../domain/error.ts';
import { usage } from '../options/settings.ts';
import type { ConnectionValues } from '../options/shared.ts';
import type { Io } from '../terminal/io.ts';
import { type Contexts, readContexts, type SavedContext } from './contexts.ts';
import { isLoopback } from './loopback.ts';
import { readTokenFile } from './private-file.ts';

/** A value and its source, such as `--url`, `SIGNAGE_URL` or `context local`. */
interface Sourced {
  value: string;
  source: string;
}

export interface Address {
  /** The saved context that provides the URL, if any. */
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

/** Throws `usage` for a URL that would send a token unencrypted across a network. */
export function requireSafeAddress(url: string, insecureHttp: boolean): void {
  if (!URL.canParse(url)) throw usage(`"${url}" is not a URL such as https://signage.example.com.`);
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || isLoopback(hostname) || insecureHttp) return;
  throw usage(
    `${url} is not encrypted: the token would cross the network in clear text.`,
    'Use https, or allow it with --insecure-http.',
  );
}

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
      hint: 'signage context list',
    });
  }
  return { name, saved, env: flag === undefined ? env : {} };
}

/** Returns the token, if there is one. A saved token is sent only to the origin of its context. */
async function findToken(
  { tokenFile }: ConnectionValues,
  url: Sourced,
  { name, saved, env }: ChosenContext,
): Promise<Sourced | undefined> {
  if (tokenFile !== undefined)
    return { value: await readTokenFile(tokenFile), source: '--token-file' };
  const fromEnvironment = env.SIGNAGE_TOKEN?.trim();
  if (fromEnvironment) return { value: fromEnvironment, source: 'SIGNAGE_TOKEN' };
  if (env.SIGNAGE_TOKEN_FILE) {
    return { value: await readTokenFile(env.SIGNAGE_TOKEN_FILE), source: 'SIGNAGE_TOKEN_FILE' };
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
  const url = pick(flags.url, '--url', 'SIGNAGE_URL', saved?.url, chosen) ?? {
    value: defaultUrl,
    source: 'default',
  };
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

/** Like `readProfile`, but without the credentials. */
export async function readAddress(flags: AddressValues, io: Pick<Io, 'env'>): Promise<Address> {
  const { ofContext: _, ...address } = addressOf(
    flags,
    chooseContext(await readContexts(io), flags.context, io),
  );
  return address;
}

/**
 * Determines the service and the credentials. Flags override the environment, which overrides the
 * current context. A context named by `--context` overrides the environment, too.
 */
export async function readProfile(flags: ConnectionValues, io: Pick<Io, 'env'>): Promise<Profile> {
  const chosen = chooseContext(await readContexts(io), flags.context, io);
  const { ofContext, ...address } = addressOf(flags, chosen);
  return {
    ...address,
    token: await findToken(flags, address.url, chosen),
    tenant: pick(flags.tenant, '--tenant', 'SIGNAGE_TENANT', ofContext?.tenant, chosen),
  };
}
