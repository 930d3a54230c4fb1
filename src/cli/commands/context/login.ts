import { keyLength } from '../../../domain/api-key.ts';
import { hasCode, SignageError } from '../../../domain/error.ts';
import { isGuid } from '../../../domain/id.ts';
import { connect } from '../../connection/connect.ts';
import {
  type Contexts,
  changeContexts,
  readContexts,
  type SavedContext,
} from '../../connection/contexts.ts';
import { readTokenFile } from '../../connection/private-file.ts';
import { defaultUrl } from '../../connection/profile.ts';
import { warnOfReadableToken } from '../../connection/proxy.ts';
import { baseUrl, requireSafeAddress, withScheme } from '../../connection/service-url.ts';
import { readInput } from '../../input/input-file.ts';
import { readSettings, usage } from '../../input/settings.ts';
import { type ConnectionValues, connectionOptions } from '../../input/shared.ts';
import type { ViewSource } from '../../output/view.ts';
import type { CommandContext } from '../../program/context.ts';
import { type Identity, identityView } from '../../records/views/access-views.ts';
import { logInByApproval } from './device-login.ts';

/**
 * Returns the default name of a context: `local` for the default URL, else the host. A port that is
 * not the default of the protocol is part of the name.
 */
export const contextNameOf = (url: string) =>
  new URL(url).origin === defaultUrl ? 'local' : new URL(url).host;

async function chooseUrl(
  call: CommandContext,
  { url, context, insecureHttp }: ConnectionValues,
  { contexts }: Contexts,
): Promise<string> {
  const known =
    url ??
    (call.io.env.SIGNAGE_URL || undefined) ??
    (context === undefined ? undefined : contexts[context]?.url);
  if (known !== undefined) return known;
  if (!call.prompter.canAsk) return defaultUrl;
  return call.prompter.input({
    message: 'Address of the service',
    flag: '--url',
    initial: defaultUrl,
    check: (text) => void requireSafeAddress(withScheme(text.trim()), insecureHttp),
  });
}

async function readToken(
  call: CommandContext,
  { tokenFile }: ConnectionValues,
  fromStdin: boolean,
): Promise<string> {
  if (fromStdin) {
    const token = (await readInput(call.io, '-', { isSecret: true })).trim();
    if (token === '') throw usage('There is no token on stdin.');
    return token;
  }
  if (tokenFile !== undefined) return readTokenFile(tokenFile, call.note);
  return (
    await call.prompter.password({
      message: 'Management token',
      flag: '--token-stdin or --token-file',
    })
  ).trim();
}

/**
 * Asks the service for the identity of the token, so that an invalid token is not saved. Returns
 * the context with the id and the role of the token, and with the id of the tenant in place of its
 * name.
 */
async function verify(
  saved: Omit<SavedContext, 'tokenId' | 'role'>,
  call: CommandContext,
): Promise<{ saved: SavedContext; identity: Identity; view: ViewSource<Identity> }> {
  const profile = {
    context: undefined,
    url: { value: saved.url, source: '--url' },
    token: { value: saved.token, source: 'login' },
    tenant: saved.tenant === undefined ? undefined : { value: saved.tenant, source: '--tenant' },
    caFile: saved.caFile,
    insecureHttp: saved.insecureHttp === true,
  };
  const { client, tenantId } = await connect(profile, call, call.common);
  const me = await client.call('getMe', { signal: call.interrupted });
  const identity = {
    ...me,
    context: null,
    url: saved.url,
    urlSource: '--url',
    tokenSource: 'login',
  };
  const view = identityView(
    { read: (id, ...input) => client.call(id, ...input) },
    identity,
    call.clock.now(),
  );
  const tenant = tenantId === undefined ? {} : { tenant: tenantId };
  return { saved: { ...saved, tokenId: me.tokenId, role: me.role, ...tenant }, identity, view };
}

/** Describes a probable mistake in a token that the service rejected. Never contains the token. */
function slipIn(token: string): string {
  if (token.startsWith('dak_'))
    return 'It is the key of a TV. A management token begins with mak_.';
  if (!token.startsWith('mak_')) return 'A management token begins with mak_.';
  if (token.length < keyLength) return `It has ${token.length} of ${keyLength} characters.`;
  if (token.length > keyLength)
    return `It has ${token.length} characters, and created tokens have ${keyLength}.`;
  return 'It may belong to another service, or may have been deleted.';
}

/** Maximum number of times that `login` asks for the token. */
const maxAttempts = 3;

/**
 * Reads the token and verifies it. Asks again if the service rejects a token typed at the terminal.
 */
async function readVerified(
  call: CommandContext,
  given: ConnectionValues,
  fromStdin: boolean,
  address: Omit<SavedContext, 'token' | 'tokenId' | 'role'>,
): ReturnType<typeof verify> {
  for (let attempt = 1; ; attempt++) {
    const token = await readToken(call, given, fromStdin);
    try {
      return await verify({ ...address, token }, call);
    } catch (error) {
      if (!hasCode(error, 'credential_invalid')) throw error;
      const hint = `${slipIn(token)} Copy the whole token again.`;
      if (fromStdin || given.tokenFile !== undefined || attempt === maxAttempts)
        throw new SignageError(error.code, error.message, { ...error, hint });
      call.note(`${error.message} ${hint}`);
    }
  }
}

/** Throws `usage` if nobody could see the code or check the tenant of `login --device`. */
function checkDeviceLogin(
  { common, prompter }: CommandContext,
  { tenant, tokenFile }: ConnectionValues,
  fromStdin: boolean,
): void {
  if (fromStdin || tokenFile !== undefined || common.quiet)
    throw usage('--device shows a code: leave out --token-stdin, --token-file and --quiet.');
  if (tenant === undefined ? !prompter.canAsk : !isGuid(tenant))
    throw usage('--device needs --tenant with an id here: names of tenants can look alike.');
}

/** Asks for a service and a token, verifies them, and saves them as the current context. */
export async function logIn(
  call: CommandContext,
  { tokenStdin: fromStdin, device }: { tokenStdin: boolean; device: boolean },
): Promise<void> {
  if (fromStdin && call.io.stdin.isTTY)
    throw usage('--token-stdin reads stdin, and nothing is piped in: leave it out to be asked.');
  const given = readSettings(connectionOptions, call.flags, {});
  if (device) checkDeviceLogin(call, given, fromStdin);
  const contexts = await readContexts(call.io);
  const typed = (await chooseUrl(call, given, contexts)).trim();
  const url = baseUrl(withScheme(typed));
  requireSafeAddress(url, given.insecureHttp);
  warnOfReadableToken(url, call.io.env, call.note);
  if (url !== typed) call.note(`The address of the service is ${url}.`);
  const address = {
    url,
    ...(given.tenant !== undefined && { tenant: given.tenant }),
    ...(given.caFile !== undefined && { caFile: given.caFile }),
    ...(given.insecureHttp && { insecureHttp: true }),
  };
  const name = given.context ?? contextNameOf(url);
  const save = async ({ saved, ...shown }: Awaited<ReturnType<typeof verify>>) => {
    const file = await changeContexts(call.io, (all) => {
      all.contexts[name] = saved;
      all.current = name;
    });
    return { ...shown, file };
  };
  const { identity, view, file } = device
    ? await logInByApproval(call, address, async (token) =>
        save(await verify({ ...address, token }, call)),
      )
    : await save(await readVerified(call, given, fromStdin, address));
  await call.results.record(
    { ...identity, context: name, urlSource: `context ${name}`, tokenSource: `context ${name}` },
    view,
  );
  call.note(`Saved as the context "${name}" in ${file}.`);
  if (call.io.env.SIGNAGE_TOKEN)
    call.note('SIGNAGE_TOKEN is set, and overrides the saved context.');
}
