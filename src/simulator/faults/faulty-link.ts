import { pause } from '../../client/pause.ts';
import type { Requester, RequestParts } from '../../client/requester.ts';
import type { SeededRandom } from '../time/seeded-random.ts';
import type { VirtualClock } from '../time/virtual-clock.ts';
import { operationOf, type RecordedAnswer, replyOf } from '../tv/recording-transport.ts';
import type { LinkFault, Rule, Target } from './fault.ts';
import type { Outage } from './outage.ts';
import type { Power } from './power.ts';

type LinkRule = Rule & LinkFault;

export interface LinkOptions {
  /** What is behind it. */
  wire: { send(url: string, parts: RequestParts): Promise<RecordedAnswer> };
  /** The right time, whatever the TV's own clock says. */
  clock: VirtualClock;
  power: Power;
  outage: Outage;
  /** `undefined` where there are no rules to throw dice for. */
  chance: SeededRandom | undefined;
  rules: readonly LinkRule[];
  /** Told of what faults did. */
  tally: { fault(rule: string): void };
}

/** What faults do to one request. */
interface Fate {
  delayMs: number;
  kinds: readonly LinkFault['kind'][];
}

const harmless: Fate = { delayMs: 0, kinds: [] };

const targetOf: Readonly<Record<string, Target>> = {
  registerDevice: 'register',
  getPlaylist: 'playlist',
  getDeviceConfig: 'config',
  postEvents: 'events',
  rotateDeviceKey: 'rotate',
};

const broken = (code: string) => Object.assign(new Error(`A fault: ${code}`), { code });

async function* halfOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, Math.floor(bytes.length / 2));
  throw broken('ECONNRESET');
}

/** Throws the dice for one request; each takes as much from the sequence of chance, whatever comes of it. */
function drawFate({ rules, chance, tally }: LinkOptions, url: string): Fate {
  if (!chance) return harmless;
  const target = targetOf[operationOf(url) ?? ''];
  const kinds: LinkFault['kind'][] = [];
  let delayMs = 0;
  for (const rule of rules) {
    const isHit = chance.happens(rule.share);
    const drawnMs = rule.kind === 'slow' ? chance.between(rule.leastMs, rule.mostMs) : 0;
    if (!isHit || (rule.target !== 'all' && rule.target !== target)) continue;
    kinds.push(rule.kind);
    delayMs += drawnMs;
    tally.fault(rule.rule);
  }
  return { delayMs, kinds };
}

function requireNetwork({ outage, clock, tally }: LinkOptions): void {
  const rule = outage.ruleAt(clock.now());
  if (rule === undefined) return;
  tally.fault(rule);
  throw broken('ENETUNREACH');
}

/** The network of one TV: its requests meet the faults there, and its power may fail before and after them. */
export function makeFaultyLink(options: LinkOptions): Requester {
  const { wire, clock, power } = options;
  return async (url, parts) => {
    power.pass('sending');
    requireNetwork(options);
    const { delayMs, kinds } = drawFate(options, url);
    if (delayMs > 0) {
      await pause(clock, delayMs, parts.signal);
      power.pass('sending');
      requireNetwork(options);
    }
    if (kinds.includes('lost-request')) throw broken('ECONNRESET');
    let answer = await clock.hold(() => wire.send(url, parts));
    if (kinds.includes('duplicate')) answer = await clock.hold(() => wire.send(url, parts));
    power.pass('answered');
    if (kinds.includes('lost-answer')) throw broken('ECONNRESET');
    return kinds.includes('cut-answer') ? replyOf(answer, halfOf(answer.bytes)) : replyOf(answer);
  };
}
