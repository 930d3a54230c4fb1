import { SignageError } from '../../domain/error.ts';
import { usage } from '../options/settings.ts';
import type { ConnectionValues } from '../options/shared.ts';
import type { Io } from '../terminal/io.ts';
import { type Contexts, readContexts, type SavedContext } from './contexts.ts';
import { isLoopback } from './loopback.ts';
import { readTokenFile } from './private-file.ts';

/** A value and where it is from: `--url`, `SIGNAGE_URL`, `context local`. */
interface Sourced {
  value: string;
  source: string;
}

/** Which service is talked to. */
export interface Address {
  /** The context that it comes from, as far as it does. */
  context: string | undefined;
  url: Sourced;
  caFile: string | undefined;
  insecureHttp: boolean;
}

/** And as whom. */
export interface Profile extends Address {
  token: Sourced | undefined;
  /** Id or name. */
  tenant: Sourced | undefined;
}

/** Where a service is unless said otherwise: where `signage serve` puts it. */
export const usualUrl = 'http://127.0.0.1:4100';

const origin = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined);

/** Refuses to send a token in clear across a network. */
export function requireSafeAddress(url: string, insecureHttp: boolean): void {
  if (!URL.canParse(url))
    throw usage(`"${url}" is no URL: write it like https://signage.example.com.`);
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' || isLoopback(hostname) || insecureHttp) return;
  throw usage(
    `${url} is not encrypted: the token would cross the network in clear.`,
    'Use https, or say --insecure-http if that is all right.',
  );
}

interface Named {
  name: string | undefined;
  saved: SavedContext | undefined;
  /** The environment, unless a flag names the context: that beats it. */
  env: Io['env'];
}

function chooseContext(
  { contexts, current }: Contexts,
  flag: string | undefined,
  { env }: Pick<Io, 'env'>,
): Named {
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

/** The token, if there is one. The saved one is for the origin that it was saved for, and no other. */
async function findToken(
  { tokenFile }: ConnectionValues,
  url: Sourced,
  { name, saved, env }: Named,
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
  const message = `The token of the context ${name} is for ${origin(saved.url)}, and is not sent to ${url.value} (${url.source}).`;
  throw new SignageError('token_of_elsewhere', message, {
    hint: `Log in there, signage login --url ${url.value}, or set SIGNAGE_TOKEN.`,
  });
}

/** A value by its flag, else by its variable, else as the context has it. */
function pick(
  flag: string | undefined,
  long: string,
  variable: string,
  kept: string | undefined,
  { name, env }: Named,
): Sourced | undefined {
  if (flag !== undefined) return { value: flag, source: long };
  const given = env[variable];
  if (given) return { value: given, source: variable };
  return kept === undefined ? undefined : { value: kept, source: `context ${name}` };
}

type AddressValues = Pick<ConnectionValues, 'url' | 'context' | 'caFile' | 'insecureHttp'>;

function addressOf(
  flags: AddressValues,
  named: Named,
): Address & { ofContext: SavedContext | undefined } {
  const { saved, name } = named;
  const url = pick(flags.url, '--url', 'SIGNAGE_URL', saved?.url, named) ?? {
    value: usualUrl,
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
    named,
  )?.value;
  return { context: ofContext && name, url, caFile, insecureHttp, ofContext };
}

/** Works out the service alone, for those who talk to it without a token: as `readProfile` does. */
export async function readAddress(flags: AddressValues, io: Pick<Io, 'env'>): Promise<Address> {
  const { ofContext: _, ...address } = addressOf(
    flags,
    chooseContext(await readContexts(io), flags.context, io),
  );
  return address;
}

/**
 * Works out the service and the token: flags beat the environment, which beats the saved context; a context that `--context` names beats
 * the environment too.
 */
export async function readProfile(flags: ConnectionValues, io: Pick<Io, 'env'>): Promise<Profile> {
  const named = chooseContext(await readContexts(io), flags.context, io);
  const { ofContext, ...address } = addressOf(flags, named);
  return {
    ...address,
    token: await findToken(flags, address.url, named),
    tenant: pick(flags.tenant, '--tenant', 'SIGNAGE_TENANT', ofContext?.tenant, named),
  };
}
