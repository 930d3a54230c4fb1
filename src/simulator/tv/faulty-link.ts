import { pause } from '../../client/pause.ts';
import type { Requester, RequestParts } from '../../client/requester.ts';
import { faultAnswer } from '../../faults/fault-answer.ts';
import type { Faults } from '../../faults/faults.ts';
import type { Outage, Power } from './hardware.ts';
import {
  endpointOf,
  isHeld,
  operations,
  type RecordedAnswer,
  replyOf,
} from './recording-transport.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface LinkOptions {
  /** Sends the requests that no fault has stopped. */
  transport: { send(url: string, parts: RequestParts): Promise<RecordedAnswer> };
  /** The correct time, independent of the TV's skewed clock. */
  clock: VirtualClock;
  power: Power;
  outage: Outage;
  faults: Faults;
  /** Counts the faults that occurred. */
  counters: { fault(rule: string): void };
}

const connectionError = (code: string) => Object.assign(new Error(`A fault: ${code}`), { code });

async function* firstHalf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, Math.floor(bytes.length / 2));
  throw connectionError('ECONNRESET');
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

/** Asks the service to answer a request for changes at once. */
const withoutHold = (url: string) => url.replace(/&?waitSeconds=\d+/, '');

/**
 * Simulates the network of one TV. Injects the faults of the rules. A power cut may occur before or
 * after each request.
 */
export function makeFaultyLink(options: LinkOptions): Requester {
  const { transport, clock, power, faults, counters } = options;
  return async (url, parts) => {
    power.pass('sending');
    requireNetwork(options);
    const call = endpointOf(url);
    const { ids = [], delayMs = 0, effect } = faults.take(call, url) ?? {};
    for (const id of ids) counters.fault(id);
    if (delayMs > 0) {
      await pause(clock, delayMs, parts.signal);
      power.pass('sending');
      requireNetwork(options);
    }
    const kind = effect?.kind;
    if (kind === 'lost-request') throw connectionError('ECONNRESET');
    if (effect?.kind === 'status') {
      const { status, headers, text } = faultAnswer(effect, call && operations[call], 'fault-rule');
      return replyOf({ status, headers: headers, bytes: Buffer.from(text) });
    }
    const sentUrl = kind === 'at-once' ? withoutHold(url) : url;
    const send = () =>
      effect?.kind === 'timeout'
        ? sendUntilCut(options, url, parts, effect.afterMs)
        : transport.send(sentUrl, parts);
    let answer = await clock.hold(send);
    if (isHeld(url)) requireNetwork(options);
    if (kind === 'duplicate') answer = await clock.hold(send);
    power.pass('answered');
    if (kind === 'lost-answer') throw connectionError('ECONNRESET');
    return kind === 'cut-answer' ? replyOf(answer, firstHalf(answer.bytes)) : replyOf(answer);
  };
}
