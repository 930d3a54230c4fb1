import { ApiClient } from '../../client/api-client.ts';
import { ManagementClient, type ManagementOptions } from '../../client/management-client.ts';
import { withNodePlatform } from '../../client/node-platform.ts';
import { nodeRequesterThrough } from '../../client/node-requester.ts';
import type { ClientOptions } from '../../client/options.ts';
import type { Retry } from '../../client/retry.ts';
import type { Exchanged } from '../../client/transport.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import { isGuid } from '../../domain/id.ts';
import { unusableFile } from '../input/file-error.ts';
import { readRegularBytes } from '../input/read-file.ts';
import type { CommonValues } from '../input/shared.ts';
import type { Environment } from '../terminal/environment.ts';
import { eraseLine, escapeControl } from '../terminal/escape.ts';
import { writeMessage } from '../terminal/wrap.ts';
import type { Connection } from './client.ts';
import { isLoopback } from './loopback.ts';
import type { Address, Profile } from './profile.ts';
import { proxyFor } from './proxy.ts';

const patienceMs = 2 * secondMs;
/** Time limit of a request without a token, whose caller waits for the answer. */
const requestMs = 10 * secondMs;

/**
 * Returns a listener for the retries of a client. It shows a line on `stderr` while a call waits
 * for its service for more than two seconds. Elsewhere than at a terminal, it writes one line when
 * a connection is refused for the first time.
 */
function makeWaitingLine(
  { io, clock }: Pick<Environment, 'io' | 'clock'>,
  service: string,
): (retry: Retry | undefined) => void {
  const { stderr } = io;
  if (!stderr.isTTY || io.env.TERM === 'dumb') {
    let isNoted = false;
    return (retry) => {
      if (!retry?.isRefused || isNoted) return;
      isNoted = true;
      writeMessage(stderr, `${service} refuses connections. Trying again (--retry).`);
    };
  }
  let failedMs: number | undefined;
  let isShown = false;
  let cancel = () => {};

  function show(retry: Retry, dueMs: number): void {
    const { error, attempt, attempts, isRefused } = retry;
    const seconds = Math.max(1, Math.ceil((dueMs - clock.now()) / secondMs));
    const problem = error.status === undefined ? 'does not answer' : `answered ${error.status}`;
    const text = isRefused
      ? `${service} refuses connections. Trying again (--retry); Ctrl-C stops.`
      : `${service} ${problem}. Attempt ${attempt + 1} of ${attempts} in ${seconds} s; Ctrl-C stops.`;
    stderr.write(eraseLine() + escapeControl(text).slice(0, (stderr.columns ?? 80) - 1));
    isShown = true;
    cancel = clock.after(secondMs, () => show(retry, dueMs));
  }

  return (retry) => {
    cancel();
    if (!retry) {
      if (isShown) stderr.write(eraseLine());
      isShown = false;
      failedMs = undefined;
      return;
    }
    const nowMs = clock.now();
    failedMs ??= nowMs;
    const waitMs = Math.max(0, failedMs + patienceMs - nowMs);
    cancel = clock.after(waitMs, () => show(retry, nowMs + retry.delayMs));
  };
}

const codeInPath = /(\/provisioning-codes\/)[^/?]+/gi;
const secrets = /\b((?:dak|mak|clm|tkt|lgn)_)[0-9A-Za-z]+/g;
/** Redacts keys, tokens, and secrets of claims, tickets and logins. */
export const withoutSecrets = (text: string) => text.replaceAll(secrets, '$1…');
const withoutSecretParts = (path: string) => withoutSecrets(path.replaceAll(codeInPath, '$1…'));
/** Decodes the percent-encoded ASCII characters of a path. */
const decodedAscii = (path: string) =>
  path.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

/**
 * Redacts pairing codes, keys, tokens, and secrets of claims and logins in a path. Searches the
 * decoded path, because the service decodes it, too. Returns the decoded path only if it has a
 * secret. Escapes control characters.
 */
export function shownPath(path: string): string {
  const decoded = decodedAscii(path);
  return escapeControl(
    withoutSecretParts(decoded) === decoded ? path : withoutSecretParts(decoded),
  );
}

/** Formats a request for `--verbose`. */
export function exchangeLine({ method, path, outcome, tookMs }: Exchanged): string {
  return `${method} ${shownPath(path)} → ${outcome} (${Math.round(tookMs)} ms)\n`;
}

/**
 * Returns the root certificates of Node and the certificates of a file. Throws `usage` if the file
 * is unreadable.
 */
export async function readCertificates(file: string): Promise<string[]> {
  // Loaded on demand: decoding the root certificates takes 7 ms.
  const { rootCertificates } = await import('node:tls');
  try {
    return [...rootCertificates, (await readRegularBytes(file)).toString()];
  } catch (error) {
    throw unusableFile(error, file, { what: '--ca-file' });
  }
}

function requireToken({ token, url }: Profile): string {
  if (token !== undefined) return token.value;
  const start = isLoopback(new URL(url.value).hostname)
    ? 'signage serve starts a service on this machine. '
    : '';
  throw new SignageError('credential_missing', `There is no token for ${url.value}.`, {
    hint: `${start}Log in with signage login${url.source === 'default' ? '' : ` --url ${url.value}`}, or set SIGNAGE_TOKEN.`,
  });
}

/**
 * Returns the id of a tenant by id or name. Only platform tokens may list tenants. Any other token
 * belongs to one tenant.
 */
async function tenantIdOf(
  client: ManagementClient,
  tenant: string,
  signal: AbortSignal,
): Promise<string> {
  if (isGuid(tenant)) return tenant.toLowerCase();
  try {
    const { items } = await client.call('listTenants', { query: { name: tenant }, signal });
    if (items[0]) return items[0].id;
  } catch (error) {
    if (!hasCode(error, 'insufficient_role')) throw error;
    const me = await client.call('getMe', { signal });
    if (me.tenantId !== null && me.tenantName?.toLowerCase() === tenant.trim().toLowerCase())
      return me.tenantId;
  }
  throw new SignageError('tenant_not_found', `There is no tenant "${tenant}".`, {
    hint: 'signage tenant list shows all tenants.',
  });
}

/** Returns the options of a client other than its URL and its token. */
export async function clientConnection(
  { caFile }: Pick<Address, 'caFile'>,
  { io, clock, random }: Environment,
  verbose: boolean,
): Promise<Omit<ClientOptions, 'url'>> {
  return {
    clock,
    random,
    makeRequester: nodeRequesterThrough((url) => proxyFor(url, io.env)),
    ...(caFile !== undefined && { certificates: await readCertificates(caFile) }),
    ...(verbose && { onExchange: (exchange) => io.stderr.write(exchangeLine(exchange)) }),
  };
}

/** Makes a client that sends no token, and each request once, for at most 10 s. */
export async function connectWithoutToken(
  address: Pick<Address, 'url' | 'caFile'>,
  environment: Environment,
): Promise<ApiClient> {
  const connection = await clientConnection(address, environment, false);
  const options = {
    ...connection,
    url: address.url.value,
    timeoutMs: requestMs,
    retry: { attempts: 1 },
  };
  return new ApiClient(withNodePlatform(options));
}

/** Returns the options for a client of the profile's service. */
export async function clientOptions(
  profile: Profile,
  environment: Environment,
  verbose: boolean,
): Promise<ManagementOptions> {
  const token = requireToken(profile);
  const options = await clientConnection(profile, environment, verbose);
  return { ...options, url: profile.url.value, token };
}

/**
 * Makes a client of the profile's service. Sends a request only to look up a tenant by name. At a
 * terminal, a line shows a call that waits for the service, unless `verbose` or `quiet`.
 */
export async function connect(
  profile: Profile,
  environment: Environment,
  { verbose, quiet, retry }: Pick<CommonValues, 'verbose' | 'quiet' | 'retry'>,
): Promise<Connection> {
  const options = await clientOptions(profile, environment, verbose);
  options.retry = { refusedForMs: retry };
  if (!verbose && !quiet) options.onRetry = makeWaitingLine(environment, profile.url.value);
  const client = new ManagementClient(options);
  const clientIn = (tenantId: string) => new ManagementClient({ ...options, tenantId });
  if (profile.tenant === undefined) return { client, tenantId: undefined, clientIn };
  const tenantId = await tenantIdOf(client, profile.tenant.value, environment.interrupted);
  return { client: clientIn(tenantId), tenantId, clientIn };
}
