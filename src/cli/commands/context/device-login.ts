import { hostname } from 'node:os';
import { type ApiClient, authorization } from '../../../client/api-client.ts';
import type { CallAnswer } from '../../../client/call.ts';
import { pause } from '../../../client/pause.ts';
import { secondMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { groupedCode } from '../../../domain/typed-code.ts';
import { connectWithoutToken } from '../../connection/connect.ts';
import type { CommandContext } from '../../program/context.ts';

type Created = CallAnswer<'createLogin'>;
type Grant = NonNullable<CallAnswer<'getLoginStatus'>['grant']>;

/** Maximum hold of the API in seconds (docs/protocol.md §5.20). */
const waitSeconds = 50;
/** Attempts of a request that fails for a transient reason: enough for a request's lifetime. */
const attempts = 20;
/** Minimum time between two requests if an answer was not held. */
const minIntervalMs = secondMs;
/** Time for the last request of a command that was stopped. */
const endMs = 2 * secondMs;
/** Statuses of a service without login requests. */
const unsupportedStatuses: readonly unknown[] = [404, 405, 501];

/** Removes the characters that the service refuses, and shortens the text. */
const cleaned = (text: string, length: number) =>
  [...text.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '')].slice(0, length).join('').trim();

async function create(api: ApiClient, call: CommandContext): Promise<Created> {
  const { USER, USERNAME = '' } = call.io.env;
  const user = cleaned(USER ?? USERNAME, 64) || 'unknown';
  const host = cleaned(hostname(), 100) || 'unknown';
  const idempotencyKey = api.makeIdempotencyKey();
  const input = { body: { user, host }, idempotencyKey, signal: call.interrupted };
  try {
    return (await api.exchange('createLogin', input, {})).answer;
  } catch (error) {
    if (!(error instanceof SignageError) || !unsupportedStatuses.includes(error.status))
      throw error;
    throw new SignageError(
      'not_supported',
      `The service at ${api.service} cannot approve logins: it may be of an older version.`,
      { cause: error, hint: 'Ask an admin for a token, and use signage login without --device.' },
    );
  }
}

async function waitForGrant(
  api: ApiClient,
  { clock, interrupted: signal }: CommandContext,
  { code, secret }: Created,
): Promise<Grant> {
  const input = { params: { code }, query: { waitSeconds }, signal, attempts };
  for (;;) {
    const askedAtMs = clock.now();
    const { answer } = await api.exchange('getLoginStatus', input, authorization(secret));
    if (answer.grant) return answer.grant;
    await pause(clock, Math.max(0, askedAtMs + minIntervalMs - clock.now()), signal);
  }
}

/** Shows what an admin gave. Throws `declined` for another tenant, or when the answer is no. */
async function accept(call: CommandContext, grant: Grant, tenant: string | undefined) {
  const { tenantName, tenantId, role, venueNames, expiresAt } = grant;
  const venues = venueNames?.map((name) => JSON.stringify(name)).join(', ');
  const owner = `the tenant ${JSON.stringify(tenantName)} (${tenantId})`;
  call.note(
    `An admin of ${owner} gives you a token: role ${role}, ${venues === undefined ? 'all venues' : `venues ${venues}`}, until ${expiresAt}.`,
  );
  if (tenant !== undefined && tenant.toLowerCase() !== tenantId)
    throw new SignageError('declined', '--tenant names another tenant. Nothing was saved.');
  if (!call.prompter.canAsk) return;
  const question = { message: `Work in ${owner} with this token?`, flag: '--tenant' };
  if (!(await call.prompter.confirm(question)))
    throw new SignageError('declined', 'Nothing was saved.');
}

/**
 * Asks the service for a token, shows the code that an admin types, and waits. Calls `keep` with
 * the token that the person at the terminal accepted. If anything fails, ends the request, which
 * deletes the token. `tenant` is the id of the only tenant whose token is accepted.
 */
export async function logInByApproval<T>(
  call: CommandContext,
  { url, caFile, tenant }: { url: string; caFile?: string; tenant?: string },
  keep: (token: string) => Promise<T>,
): Promise<T> {
  const api = await connectWithoutToken({ url: { value: url, source: '--url' }, caFile }, call);
  const created = await create(api, call);
  const code = groupedCode(created.code);
  try {
    call.note(`Your code is ${code}, for the service at ${api.service}. Ask an admin to type:`);
    call.note(`  signage token approve ${code} --role installer --venue VENUE --expires 12h`);
    call.note('The admin chooses role and venue. The code ends after 10 minutes; Ctrl-C ends it.');
    const grant = await waitForGrant(api, call, created);
    await accept(call, grant, tenant);
    return await keep(grant.token);
  } catch (error) {
    const input = { params: { code: created.code }, timeoutMs: endMs, attempts: 1 };
    await api.exchange('endLogin', input, authorization(created.secret)).catch(() => {});
    throw error;
  }
}
