import { pause } from '../../client/pause.ts';
import type { Requester, RequestParts } from '../../client/requester.ts';
import { secondMs } from '../../domain/clock.ts';
import type { LinkFault, Rule } from '../../faults/fault.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { endpointOf, isHeld, type RecordedAnswer, replyOf } from '../tv/recording-transport.ts';
import type { VirtualClock } from '../tv/virtual-clock.ts';
import type { Outage, Power } from './hardware.ts';

type LinkRule = Rule & LinkFault;

export interface LinkOptions {
  /** Sends the requests that no fault has stopped. */
  transport: { send(url: string, parts: RequestParts): Promise<RecordedAnswer> };
  /** The correct time, independent of the TV's skewed clock. */
  clock: VirtualClock;
  power: Power;
  outage: Outage;
  /** `undefined` if there are no rules. */
  random: SeededRandom | undefined;
  rules: readonly LinkRule[];
  /** Counts the faults that occurred. */
  counters: { fault(rule: string): void };
}

/** The faults drawn for one request. */
interface RequestFaults {
  delayMs: number;
  kinds: readonly LinkFault['kind'][];
  /** Time until the connection of a held request breaks, in milliseconds. */
  cutAfterMs?: number | undefined;
}

const noFaults: RequestFaults = { delayMs: 0, kinds: [] };

/** Maximum hold of the API (docs/protocol.md §2.9). */
const longestHoldMs = 50 * secondMs;

const connectionError = (code: string) => Object.assign(new Error(`A fault: ${code}`), { code });

async function* firstHalf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, Math.floor(bytes.length / 2));
  throw connectionError('ECONNRESET');
}

/**
 * Draws the faults of one request. Each rule draws its hit and its delay even for requests that it
 * does not affect, so that runs stay reproducible.
 */
function drawFaults({ rules, random, counters }: LinkOptions, url: string): RequestFaults {
  if (!random) return noFaults;
  const target = endpointOf(url);
  const kinds: LinkFault['kind'][] = [];
  let delayMs = 0;
  let cutAfterMs: number | undefined;
  for (const rule of rules) {
    const isHit = random.happens(rule.share);
    const ruleDelayMs = rule.kind === 'slow' ? random.between(rule.leastMs, rule.mostMs) : 0;
    if (!isHit || (rule.target !== 'all' && rule.target !== target)) continue;
    kinds.push(rule.kind);
    delayMs += ruleDelayMs;
    if (rule.kind === 'cut-answer' && isHeld(url)) cutAfterMs = random.between(0, longestHoldMs);
    counters.fault(rule.rule);
  }
  return { delayMs, kinds, cutAfterMs };
}

/** Sends a request whose connection breaks after this time, unless the answer comes first. */
async function sendUntilCut(
  { transport, clock }: LinkOptions,
  url: string,
  parts: RequestParts,
  cutAfterMs: number,
): Promise<RecordedAnswer> {
  const cut = new AbortController();
  const abort = () => cut.abort();
  parts.signal.addEventListener('abort', abort, { once: true });
  const cancel = clock.after(cutAfterMs, abort);
  try {
    return await transport.send(url, { ...parts, signal: cut.signal });
  } catch {
    throw connectionError('ECONNRESET');
  } finally {
    cancel();
    parts.signal.removeEventListener('abort', abort);
  }
}

function requireNetwork({ outage, clock, counters }: LinkOptions): void {
  const rule = outage.ruleAt(clock.now());
  if (rule === undefined) return;
  counters.fault(rule);
  throw connectionError('ENETUNREACH');
}

/**
 * Simulates the network of one TV. Injects the faults of the rules. A power cut may occur before or
 * after each request.
 */
export function makeFaultyLink(options: LinkOptions): Requester {
  const { transport, clock, power } = options;
  return async (url, parts) => {
    power.pass('sending');
    requireNetwork(options);
    const { delayMs, kinds, cutAfterMs } = drawFaults(options, url);
    if (delayMs > 0) {
      await pause(clock, delayMs, parts.signal);
      power.pass('sending');
      requireNetwork(options);
    }
    if (kinds.includes('lost-request')) throw connectionError('ECONNRESET');
    const send = () =>
      cutAfterMs === undefined
        ? transport.send(url, parts)
        : sendUntilCut(options, url, parts, cutAfterMs);
    let answer = await clock.hold(send);
    if (isHeld(url)) requireNetwork(options);
    if (kinds.includes('duplicate')) answer = await clock.hold(() => transport.send(url, parts));
    power.pass('answered');
    if (kinds.includes('lost-answer')) throw connectionError('ECONNRESET');
    return kinds.includes('cut-answer')
      ? replyOf(answer, firstHalf(answer.bytes))
      : replyOf(answer);
  };
}
