import { readFile } from 'node:fs/promises';
import { ManagementClient, type ManagementOptions } from '../../client/management-client.ts';
import { makeNodeRequester } from '../../client/node-requester.ts';
import type { Exchanged } from '../../client/transport.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { Context } from '../command/environment.ts';
import { usage } from '../options/settings.ts';
import { isUuid } from '../records/uuid.ts';
import { escapeControl } from '../terminal/escape.ts';
import type { Profile } from './profile.ts';

/** The service of a profile, and the tenant that each request names. */
export interface Connection {
  client: ManagementClient;
  tenantId: string | undefined;
}

const codeInPath = /(\/provisioning-codes\/)[^/?]+/gi;
const secrets = /\b([dm]ak_)[0-9A-Za-z]+/g;
const withoutSecrets = (path: string) =>
  path.replaceAll(codeInPath, '$1…').replaceAll(secrets, '$1…');
const decodedAscii = (path: string) =>
  path.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

/**
 * A path as it may be shown: a whole pairing code is as good as a key. The service decodes paths, so what is a secret to it is looked for in
 * the decoded one; where there is none, the path is shown as it was sent.
 */
export function shownPath(path: string): string {
  const decoded = decodedAscii(path);
  return escapeControl(withoutSecrets(decoded) === decoded ? path : withoutSecrets(decoded));
}

/** What `--verbose` shows of a request. */
export function exchangeLine({ method, path, outcome, tookMs }: Exchanged): string {
  return `${method} ${shownPath(path)} → ${outcome} (${Math.round(tookMs)} ms)\n`;
}

/** The certificates that Node trusts itself, and those of a file. */
export async function readCertificates(file: string): Promise<string[]> {
  // Decoding them takes 7 ms: only for those who need them.
  const { rootCertificates } = await import('node:tls');
  try {
    return [...rootCertificates, await readFile(file, 'utf8')];
  } catch (error) {
    throw usage(`The file of --ca-file cannot be read: ${(error as Error).message}.`);
  }
}

function requireToken({ token, url }: Profile): string {
  if (token !== undefined) return token.value;
  throw new SignageError('credential_missing', `There is no token for ${url.value}.`, {
    hint: `Log in with signage login${url.source === 'default' ? '' : ` --url ${url.value}`}, or set SIGNAGE_TOKEN.`,
  });
}

/** The id of a tenant that is named by id or name. Only platform tokens may list tenants; all others have one only. */
async function tenantIdOf(
  client: ManagementClient,
  tenant: string,
  signal: AbortSignal,
): Promise<string> {
  if (isUuid(tenant)) return tenant.toLowerCase();
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
    hint: 'signage tenant list',
  });
}

/** What a client of the service of a profile is made with. */
export async function clientOptions(
  profile: Profile,
  { io, clock, random }: Context,
  verbose: boolean,
): Promise<ManagementOptions> {
  return {
    ...{
      url: profile.url.value,
      token: requireToken(profile),
      clock,
      random,
      makeRequester: makeNodeRequester,
    },
    ...(profile.caFile !== undefined && { certificates: await readCertificates(profile.caFile) }),
    ...(verbose && {
      onExchange: (exchange: Exchanged) => io.stderr.write(exchangeLine(exchange)),
    }),
  };
}

/** Connects to the service of a profile; nothing is sent but, where a tenant is given by name, the question for its id. */
export async function connect(
  profile: Profile,
  context: Context,
  verbose: boolean,
): Promise<Connection> {
  const options = await clientOptions(profile, context, verbose);
  const client = new ManagementClient(options);
  if (profile.tenant === undefined) return { client, tenantId: undefined };
  const tenantId = await tenantIdOf(client, profile.tenant.value, context.interrupted);
  return { client: new ManagementClient({ ...options, tenantId }), tenantId };
}
