import type { ApiClient } from '../../client/api-client.ts';
import { asObject, header, type Reply } from '../../client/problem.ts';
import type { HttpProxy } from '../../client/proxy-tunnel.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isLoopback } from '../api/loopback.ts';
import type { Profile } from '../api/profile.ts';
import { proxyFor } from '../api/proxy.ts';
import type { Environment } from '../command/environment.ts';
import { span } from '../records/text.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { originFindings } from './origin-checks.ts';
import { checkTls } from './tls-check.ts';

const timeoutMs = 10_000;
/** Tolerance for the network delay and for the `Date` header, which has whole seconds. */
const clockWarnsMs = 5 * secondMs;
const clockFailsMs = 5 * minuteMs;

async function makeApiClient(profile: Profile, environment: Environment): Promise<ApiClient> {
  const { ApiClient } = await import('../../client/api-client.ts');
  const { withNodePlatform } = await import('../../client/node-platform.ts');
  const { clientConnection } = await import('../api/connect.ts');
  const connection = await clientConnection(profile, environment, false);
  const options = { ...connection, url: profile.url.value, timeoutMs, retry: { attempts: 1 } };
  return new ApiClient(withNodePlatform(options));
}

/** Compares the local clock with the `Date` header. Returns `undefined` without that header. */
function checkClock(reply: Reply, startedMs: number, endedMs: number): Finding | undefined {
  const serviceMs = Date.parse(header(reply, 'date') ?? '');
  if (Number.isNaN(serviceMs)) return undefined;
  // `Date` is truncated to seconds. Half a second is the mean error.
  const aheadMs = (startedMs + endedMs) / 2 - (serviceMs + secondMs / 2);
  if (Math.abs(aheadMs) <= clockWarnsMs)
    return ok('clock', 'The clocks of this machine and of the service agree.');
  const how = `${span(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the service`;
  const level = Math.abs(aheadMs) > clockFailsMs ? fail : warn;
  return level('clock', `The clock of this machine is ${how}. Synchronize both with NTP.`);
}

const startIt = ({ url }: Profile) =>
  isLoopback(new URL(url.value).hostname) ? 'signage serve' : null;

/** Checks that a signage service answers, and that the clocks agree. */
async function checkAlive(
  caller: ApiClient,
  profile: Profile,
  { clock, interrupted }: Environment,
): Promise<Finding[]> {
  const startedMs = clock.now();
  let reply: Reply;
  try {
    reply = await caller.send('GET', '/healthz', { signal: interrupted });
  } catch (error) {
    if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
    return [
      fail(
        'service',
        error.message,
        error.hint ?? (error.code === 'unreachable' ? startIt(profile) : null),
      ),
    ];
  }
  const endedMs = clock.now();
  const { status, version } = asObject(reply.text) ?? {};
  if (status !== 'ok')
    return [fail('service', `The server at ${profile.url.value} is not a signage service.`)];
  const shownVersion = typeof version === 'string' ? ` version ${version},` : '';
  const alive = ok(
    'service',
    `It answers,${shownVersion} within ${Math.max(1, Math.round(endedMs - startedMs))} ms.`,
  );
  return [alive, checkClock(reply, startedMs, endedMs) ?? []].flat();
}

/** Checks the store of the service and its playlist origins. */
async function checkReady(
  caller: ApiClient,
  { clock, interrupted: signal }: Environment,
): Promise<Finding[]> {
  try {
    const verbose = await caller.send('GET', '/readyz?verbose', { signal }).catch(() => undefined);
    // Repeats a failed request without `verbose`, because that response contains the reason.
    const { text } = verbose ?? (await caller.send('GET', '/readyz', { signal }));
    return [ok('ready', 'Its store answers.'), ...originFindings(text, clock.now())];
  } catch (error) {
    if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
    return [fail('ready', `It runs, but cannot work: ${error.message}`)];
  }
}

const proxyFinding = ({ url, variable }: HttpProxy) =>
  ok('proxy', `Requests pass ${url.origin} (${variable}).`);

/**
 * Checks everything that needs no token: connection, TLS, service. Stops at the first failure that
 * further checks depend on.
 */
export async function checkService(profile: Profile, context: Environment): Promise<Finding[]> {
  const { readCertificates } = await import('../api/connect.ts');
  const ca = profile.caFile === undefined ? undefined : await readCertificates(profile.caFile);
  const proxy = proxyFor(new URL(profile.url.value), context.io.env);
  const caller = await makeApiClient(profile, context);
  const address = ok('address', `${profile.url.value} (${profile.url.source})`);
  const tls = await checkTls(profile.url.value, { ca, proxy }, context.clock.now());
  const before = [address, proxy ? proxyFinding(proxy) : [], tls ?? []].flat();
  if (tls?.status === 'fail') return before;
  const alive = await checkAlive(caller, profile, context);
  if (alive[0]?.status === 'fail') return [...before, ...alive];
  return [...before, ...alive, ...(await checkReady(caller, context))];
}
