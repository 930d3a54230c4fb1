import type { ApiClient } from '../../../client/api-client.ts';
import { asObject, header, type Reply } from '../../../client/problem.ts';
import type { HttpProxy } from '../../../client/proxy-tunnel.ts';
import { minuteMs, secondMs } from '../../../domain/clock.ts';
import { SignageError } from '../../../domain/error.ts';
import { connectWithoutToken } from '../../connection/connect.ts';
import { isLoopback } from '../../connection/loopback.ts';
import type { Profile } from '../../connection/profile.ts';
import { proxyFor } from '../../connection/proxy.ts';
import type { Environment } from '../../terminal/environment.ts';
import { ago, span } from '../../terminal/text.ts';
import { type DoctorFinding, fail, ok, warn } from './finding.ts';
import { checkTls } from './tls-check.ts';

type Line = Record<string, unknown>;

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Describes the last failure of a playlist origin. */
function lastFailure({ lastError }: Line, nowMs: number): string | undefined {
  const { code, at } = (lastError ?? {}) as Line;
  return text(code) && text(at) ? `${code} ${ago(text(at) as string, nowMs)}` : undefined;
}

function findingOf(check: string, line: Line, nowMs: number): DoctorFinding {
  const failure = lastFailure(line, nowMs);
  const since = text(line.since) ? ` since ${ago(text(line.since) as string, nowMs)}` : '';
  if (line.status === 'open') {
    return warn(
      check,
      `Its circuit breaker is open${since}: too many failures. It is probed every 2 s. Last failure: ${failure ?? 'see the service log'}.`,
    );
  }
  if (line.status !== 'ok')
    return warn(
      check,
      `It fails${since}: ${failure ?? 'see the service log'}. The service uses the next origin.`,
    );
  const answers =
    typeof line.latencyMs === 'number'
      ? `It answers within ${Math.max(1, Math.round(line.latencyMs))} ms`
      : 'It has not been used yet';
  return ok(check, failure ? `${answers}. Last failure: ${failure}.` : `${answers}.`);
}

/** Reports what a wrong clock of the service's machine or of its store does. */
function clockFindings(
  { status, storeAheadSeconds, deletionsWaitSince }: Readonly<Record<string, unknown>>,
  nowMs: number,
): DoctorFinding[] {
  const since = text(deletionsWaitSince);
  const waiting =
    since === undefined
      ? []
      : ok(
          'retention',
          `Nothing expired is deleted until the service has run for a day: its clock jumped, or it was stopped, ${ago(since, nowMs)}.`,
        );
  return [storeClockFinding(status, Number(storeAheadSeconds)), waiting].flat();
}

function storeClockFinding(status: unknown, seconds: number): DoctorFinding | [] {
  if (status === 'ok' || Number.isNaN(seconds)) return [];
  const how = `${span(seconds * secondMs)} ${seconds > 0 ? 'behind' : 'ahead of'} the time of its store`;
  return warn(
    'store clock',
    `The clock of the service's machine is ${how}. Nothing expires wrongly, but times of new records may be off. Synchronize the clocks with NTP.`,
  );
}

/** Copying normally takes seconds. A playlist that has waited longer than this is late. */
const lateMs = 5 * minuteMs;

/** Reports the state of playlist copies from `GET /readyz?verbose`. */
export function mirrorFinding(
  { status, pending, oldest }: Readonly<Record<string, unknown>>,
  nowMs: number,
): DoctorFinding {
  const oldestMs = typeof oldest === 'string' ? Date.parse(oldest) : Number.NaN;
  const since = Number.isNaN(oldestMs) ? '' : `, the oldest since ${ago(oldest as string, nowMs)}`;
  const waiting = `${pending} ${pending === 1 ? 'playlist is' : 'playlists are'} not copied to the object store yet${since}`;
  if (status !== 'ok')
    return warn(
      'mirror',
      `${waiting}: copying fails. See the log of the service. It keeps retrying.`,
    );
  if (nowMs - oldestMs > lateMs) return warn('mirror', `${waiting}.`);
  return ok(
    'mirror',
    pending === 0 ? 'All playlists are copied to the object store.' : `${waiting}.`,
  );
}

/**
 * Reports the state of playlist origins and copies from `GET /readyz?verbose`. Returns an empty
 * array if the service does not report it.
 */
function originFindings(body: string, nowMs: number): DoctorFinding[] {
  const lines = body.split('\n').flatMap((line): Line[] => [asObject(line) ?? []].flat());
  return lines.flatMap((line) => {
    const component = text(line.component);
    if (component === 'mirror') return mirrorFinding(line, nowMs);
    if (component === 'clock') return clockFindings(line, nowMs);
    return component?.startsWith('origin/') ? findingOf(component, line, nowMs) : [];
  });
}

/** Tolerance for the network delay and for the `Date` header, which has whole seconds. */
const clockWarnsMs = 5 * secondMs;
const clockFailsMs = 5 * minuteMs;

/** Compares the local clock with the `Date` header. Returns `undefined` without that header. */
function checkClock(reply: Reply, startedMs: number, endedMs: number): DoctorFinding | undefined {
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
): Promise<DoctorFinding[]> {
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
): Promise<DoctorFinding[]> {
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
export async function checkService(
  profile: Profile,
  context: Environment,
): Promise<DoctorFinding[]> {
  const { readCertificates } = await import('../../connection/connect.ts');
  const ca = profile.caFile === undefined ? undefined : await readCertificates(profile.caFile);
  const proxy = proxyFor(new URL(profile.url.value), context.io.env);
  const caller = await connectWithoutToken(profile, context);
  const address = ok('address', `${profile.url.value} (${profile.url.source})`);
  const tls = await checkTls(profile.url.value, { ca, proxy }, context.clock.now());
  const before = [address, proxy ? proxyFinding(proxy) : [], tls ?? []].flat();
  if (tls?.status === 'fail') return before;
  const alive = await checkAlive(caller, profile, context);
  if (alive[0]?.status === 'fail') return [...before, ...alive];
  return [...before, ...alive, ...(await checkReady(caller, context))];
}
