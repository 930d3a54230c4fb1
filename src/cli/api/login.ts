import type { CommandContext } from '../command/context.ts';

import { readSettings, usage } from '../options/settings.ts';
import { type ConnectionValues, connectionOptions } from '../options/shared.ts';
import type { ViewSource } from '../output/view.ts';
import { type Identity, identityView } from '../records/views/access-views.ts';
import { connect } from './connect.ts';
import { type Contexts, changeContexts, readContexts, type SavedContext } from './contexts.ts';
import { readTokenFile } from './private-file.ts';
import { defaultUrl, requireSafeAddress } from './profile.ts';

/**
 * Returns the default name of a context: `local` for the default URL, else the host. A port that is
 * not the default of the protocol is part of the name.
 */
export const contextNameOf = (url: string) =>
  new URL(url).origin === defaultUrl ? 'local' : new URL(url).host;

async function chooseUrl(
  call: CommandContext,
  { url, context }: ConnectionValues,
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
  });
}

async function readToken(
  call: CommandContext,
  { tokenFile }: ConnectionValues,
  fromStdin: boolean,
): Promise<string> {
  if (fromStdin) {
    const token = (await call.io.stdin.text()).trim();
    if (token === '') throw usage('There is no token on stdin.');
    return token;
  }
  if (tokenFile !== undefined) return readTokenFile(tokenFile);
  return (
    await call.prompter.password({
      message: 'Management token',
      flag: '--token-stdin or --token-file',
    })
  ).trim();
}

/** Asks the service for the identity of the token, so that an invalid token is not saved. */
async function verify(
  saved: SavedContext,
  call: CommandContext,
): Promise<{ identity: Identity; view: ViewSource<Identity> }> {
  const profile = {
    context: undefined,
    url: { value: saved.url, source: '--url' },
    token: { value: saved.token, source: 'login' },
    tenant: saved.tenant === undefined ? undefined : { value: saved.tenant, source: '--tenant' },
    caFile: saved.caFile,
    insecureHttp: saved.insecureHttp === true,
  };
  const { client, tenantId } = await connect(profile, call, call.common.verbose);
  const me = await client.call('getMe', { signal: call.interrupted });
  if (tenantId !== undefined) saved.tenant = tenantId;
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
  return { identity, view };
}

/** Asks for a service and a token, verifies them, and saves them as the current context. */
export async function logIn(call: CommandContext, fromStdin: boolean): Promise<void> {
  if (fromStdin && call.io.stdin.isTTY)
    throw usage('--token-stdin reads stdin, and nothing is piped in: leave it out to be asked.');
  const given = readSettings(connectionOptions, call.flags, {});
  const contexts = await readContexts(call.io);
  const url = await chooseUrl(call, given, contexts);
  requireSafeAddress(url, given.insecureHttp);
  const saved: SavedContext = {
    url,
    token: await readToken(call, given, fromStdin),
    ...(given.tenant !== undefined && { tenant: given.tenant }),
    ...(given.caFile !== undefined && { caFile: given.caFile }),
    ...(given.insecureHttp && { insecureHttp: true }),
  };
  const { identity, view } = await verify(saved, call);
  const name = given.context ?? contextNameOf(url);
  const file = await changeContexts(call.io, (all) => {
    all.contexts[name] = saved;
    all.current = name;
  });
  await call.results.record(
    { ...identity, context: name, urlSource: `context ${name}`, tokenSource: `context ${name}` },
    view,
  );
  call.note(`Saved as the context "${name}" in ${file}.`);
  if (call.io.env.SIGNAGE_TOKEN)
    call.note('SIGNAGE_TOKEN is set, and overrides the saved context.');
}
