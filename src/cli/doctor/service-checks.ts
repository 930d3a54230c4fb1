import type { Caller } from '../../client/caller.ts';
import { asObject, header, type Reply } from '../../client/problem.ts';
import { minuteMs, secondMs } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { isLoopback } from '../api/loopback.ts';
import type { Profile } from '../api/profile.ts';
import type { Context } from '../command/environment.ts';
import { span } from './ago.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { originFindings } from './origin-checks.ts';
import { checkTls } from './tls-check.ts';

const timeoutMs = 10_000;
/** `Date` counts whole seconds, and answers take a while. */
const clockWarnsMs = 5 * secondMs;
const clockFailsMs = 5 * minuteMs;

async function makeCaller(
  { url, caFile }: Profile,
  { clock, random }: Context,
): Promise<{ caller: Caller; ca: string[] | undefined }> {
  const [{ Caller }, { readCertificates }] = await Promise.all([
    import('../../client/caller.ts'),
    import('../api/connect.ts'),
  ]);
  const ca = caFile === undefined ? undefined : await readCertificates(caFile);
  const trust = ca && { certificates: ca };
  return {
    caller: new Caller({
      url: url.value,
      timeoutMs: timeoutMs,
      retry: { attempts: 1 },
      ...trust,
      clock,
      random,
    }),
    ca,
  };
}

/** Compares two clocks by what the service says of the time; `undefined` when it says nothing. */
function checkClock(reply: Reply, startedMs: number, endedMs: number): Finding | undefined {
  const serviceMs = Date.parse(header(reply, 'date') ?? '');
  if (Number.isNaN(serviceMs)) return undefined;
  // Half a second more, for what `Date` leaves away.
  const aheadMs = (startedMs + endedMs) / 2 - (serviceMs + secondMs / 2);
  if (Math.abs(aheadMs) <= clockWarnsMs)
    return ok('clock', 'The clocks of this machine and of the service agree.');
  const how = `${span(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the service`;
  const level = Math.abs(aheadMs) > clockFailsMs ? fail : warn;
  return level('clock', `The clock of this machine is ${how}: one of them needs setting (NTP).`);
}

const startIt = ({ url }: Profile) =>
  isLoopback(new URL(url.value).hostname) ? 'signage serve' : null;

/** Asks whether it is there at all; whatever answers must be a signage service. */
async function checkAlive(
  caller: Caller,
  profile: Profile,
  { clock, interrupted }: Context,
): Promise<Finding[]> {
  const startedMs = clock.now();
  let reply: Reply;
  try {
    reply = await caller.send('GET', '/healthz', { signal: interrupted });
  } catch (error) {
    if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
    return [fail('service', error.message, error.code === 'unreachable' ? startIt(profile) : null)];
  }
  const endedMs = clock.now();
  const { status, version } = asObject(reply.text) ?? {};
  if (status !== 'ok')
    return [fail('service', `What answers at ${profile.url.value} is no signage service.`)];
  const shownVersion = typeof version === 'string' ? ` version ${version},` : '';
  const alive = ok(
    'service',
    `It answers,${shownVersion} within ${Math.max(1, Math.round(endedMs - startedMs))} ms.`,
  );
  return [alive, checkClock(reply, startedMs, endedMs) ?? []].flat();
}

/** Whether it can work, and how the places fare where playlists come from. */
async function checkReady(
  caller: Caller,
  { clock, interrupted: signal }: Context,
): Promise<Finding[]> {
  try {
    const verbose = await caller.send('GET', '/readyz?verbose', { signal }).catch(() => undefined);
    // One that is not ready says why where it is asked for nothing else.
    const { text } = verbose ?? (await caller.send('GET', '/readyz', { signal }));
    return [ok('ready', 'Its store answers.'), ...originFindings(text, clock.now())];
  } catch (error) {
    if (!(error instanceof SignageError) || error.code === 'interrupted') throw error;
    return [fail('ready', `It runs, but cannot work: ${error.message}`)];
  }
}

/** All that can be said of a service without a token: can it be reached, and trusted, and does it work. Ends at what makes the rest moot. */
export async function checkService(profile: Profile, context: Context): Promise<Finding[]> {
  const { caller, ca } = await makeCaller(profile, context);
  const address = ok('address', `${profile.url.value} (${profile.url.source})`);
  const tls = await checkTls(profile.url.value, ca, context.clock.now());
  const before = [address, tls ?? []].flat();
  if (tls?.status === 'fail') return before;
  const alive = await checkAlive(caller, profile, context);
  if (alive[0]?.status === 'fail') return [...before, ...alive];
  return [...before, ...alive, ...(await checkReady(caller, context))];
}
