import type { Fault, LifeFault, LinkFault, Rule } from './fault.ts';
import { FaultWords } from './fault-words.ts';

/** One kind of fault: how its rule is written, and how it is read after its name. */
interface Kind {
  form: string;
  example: string;
  /** What happens, in a sentence. */
  about: string;
  read(words: FaultWords): Fault;
}

const ofRequests = (
  kind: Exclude<LinkFault['kind'], 'slow'>,
  example: string,
  about: string,
): Kind => ({
  form: `${kind}[:WHAT]:SHARE`,
  example,
  about,
  read: (words) => ({ kind, target: words.target(), share: words.share() }),
});

const ofLife = (kind: 'factory-reset' | 'revoked-key', example: string, about: string): Kind => ({
  form: `${kind}:PACE`,
  example,
  about,
  read: (words) => ({ kind, pace: words.pace() }),
});

function readSlow(words: FaultWords): Fault {
  const target = words.target();
  const [leastMs, mostMs] = words.spans();
  return { kind: 'slow', target, leastMs, mostMs, share: words.share(1) };
}

function readLasting(
  kind: 'offline' | 'power-cut',
  words: FaultWords,
  usualMs?: number,
): LifeFault {
  const lastsMs = usualMs === undefined || words.hasSpan ? words.span() : usualMs;
  return { kind, lastsMs, pace: words.pace() };
}

const usualCutMs = 60_000;

/** All that can go wrong, by the names that rules begin with. */
export const faultKinds: Readonly<Record<Fault['kind'], Kind>> = {
  'lost-request': ofRequests('lost-request', 'lost-request:events:5%', 'the request never arrives'),
  'lost-answer': ofRequests(
    'lost-answer',
    'lost-answer:register:20%',
    'the request arrives, and the TV never gets the answer',
  ),
  'cut-answer': ofRequests(
    'cut-answer',
    'cut-answer:playlist:10%',
    'the connection breaks in the middle of the answer',
  ),
  duplicate: ofRequests(
    'duplicate',
    'duplicate:events:20%',
    'the request arrives twice; the TV gets the second answer',
  ),
  slow: {
    form: 'slow[:WHAT]:SPAN[-SPAN][:SHARE]',
    example: 'slow:events:200ms-2s:30%',
    about: 'the request takes so long to arrive',
    read: readSlow,
  },
  offline: {
    form: 'offline:SPAN:PACE',
    example: 'offline:5m every 1h',
    about: 'the TV has no network for so long',
    read: (words) => readLasting('offline', words),
  },
  'clock-skew': {
    form: 'clock-skew:SPAN',
    example: 'clock-skew:2h',
    about: 'each clock is wrong from the beginning, by up to so much, either way',
    read: (words) => ({ kind: 'clock-skew', byMs: words.span() }),
  },
  'clock-jump': {
    form: 'clock-jump:SPAN:PACE',
    example: 'clock-jump:10m every 6h',
    about: 'the clock is set, by up to so much, either way',
    read: (words) => ({ kind: 'clock-jump', byMs: words.span(), pace: words.pace() }),
  },
  'power-cut': {
    form: 'power-cut[:SPAN]:PACE',
    example: 'power-cut:1%/h',
    about:
      'the power fails for so long (1m), at any point of what the TV does; it keeps what it had saved',
    read: (words) => readLasting('power-cut', words, usualCutMs),
  },
  'factory-reset': ofLife(
    'factory-reset',
    'factory-reset:every 12h',
    'the TV forgets everything, and is paired again',
  ),
  'shared-code': {
    form: 'shared-code:SHARE',
    example: 'shared-code:50%',
    about:
      'of so many pairs of TVs both try the same code: one gets it, the other asks for another',
    read: (words) => ({ kind: 'shared-code', share: words.share() }),
  },
  'revoked-key': ofLife(
    'revoked-key',
    'revoked-key:2/d',
    'the TV is revoked and paired again, while somebody goes on using the old key: each time 401, and nothing is stored',
  ),
};

/**
 * Reads a fault rule. Words are parted by colons or blanks: `lost-answer:register:20%`, `offline:5m every 1h`. Throws `invalid_option` that
 * names the place, and what may stand there.
 */
export function parseFault(rule: string): Rule {
  const words = new FaultWords(rule);
  const kind = faultKinds[words.kind(Object.keys(faultKinds) as Fault['kind'][])];
  words.form = `write ${kind.form}, such as ${kind.example}`;
  const fault = kind.read(words);
  words.end();
  return { ...fault, rule };
}
