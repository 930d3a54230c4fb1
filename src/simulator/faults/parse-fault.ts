import type { Fault, LifeFault, LinkFault, Rule } from './fault.ts';
import { FaultWords } from './fault-words.ts';

/** One kind of fault: the syntax of its rule, and how its words are read after the name. */
interface Kind {
  form: string;
  example: string;
  /** What happens, in one sentence. */
  about: string;
  read(words: FaultWords): Fault;
}

const requestFault = (
  kind: Exclude<LinkFault['kind'], 'slow'>,
  example: string,
  about: string,
): Kind => ({
  form: `${kind}[:WHAT]:SHARE`,
  example,
  about,
  read: (words) => ({ kind, target: words.target(), share: words.share() }),
});

const recurringFault = (
  kind: 'factory-reset' | 'revoked-key',
  example: string,
  about: string,
): Kind => ({
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

function readTimedFault(
  kind: 'offline' | 'power-cut',
  words: FaultWords,
  defaultMs?: number,
): LifeFault {
  const lastsMs = defaultMs === undefined || words.hasSpan ? words.span() : defaultMs;
  return { kind, lastsMs, pace: words.pace() };
}

const defaultCutMs = 60_000;

/** All kinds of faults, by the first word of their rules. */
export const faultKinds: Readonly<Record<Fault['kind'], Kind>> = {
  'lost-request': requestFault(
    'lost-request',
    'lost-request:events:5%',
    'the request never arrives',
  ),
  'lost-answer': requestFault(
    'lost-answer',
    'lost-answer:register:20%',
    'the request arrives, and the TV never gets the answer',
  ),
  'cut-answer': requestFault(
    'cut-answer',
    'cut-answer:playlist:10%',
    'the connection breaks in the middle of the answer',
  ),
  duplicate: requestFault(
    'duplicate',
    'duplicate:events:20%',
    'the request arrives twice; the TV gets the second answer',
  ),
  slow: {
    form: 'slow[:WHAT]:SPAN[-SPAN][:SHARE]',
    example: 'slow:events:200ms-2s:30%',
    about: 'the request is delayed by this long',
    read: readSlow,
  },
  offline: {
    form: 'offline:SPAN:PACE',
    example: 'offline:5m every 1h',
    about: 'the TV has no network for this long',
    read: (words) => readTimedFault('offline', words),
  },
  'clock-skew': {
    form: 'clock-skew:SPAN',
    example: 'clock-skew:2h',
    about: 'each clock is wrong from the start, by up to this much in either direction',
    read: (words) => ({ kind: 'clock-skew', byMs: words.span() }),
  },
  'clock-jump': {
    form: 'clock-jump:SPAN:PACE',
    example: 'clock-jump:10m every 6h',
    about: 'the clock jumps, by up to this much in either direction',
    read: (words) => ({ kind: 'clock-jump', byMs: words.span(), pace: words.pace() }),
  },
  'power-cut': {
    form: 'power-cut[:SPAN]:PACE',
    example: 'power-cut:1%/h',
    about:
      'the power fails for this long (default: 1m), at any point; the TV keeps what it has saved',
    read: (words) => readTimedFault('power-cut', words, defaultCutMs),
  },
  'factory-reset': recurringFault(
    'factory-reset',
    'factory-reset:every 12h',
    'the TV loses all its data and is paired again',
  ),
  'shared-code': {
    form: 'shared-code:SHARE',
    example: 'shared-code:50%',
    about:
      'in this share of TV pairs, both try the same code: one gets it, the other asks for another',
    read: (words) => ({ kind: 'shared-code', share: words.share() }),
  },
  'revoked-key': recurringFault(
    'revoked-key',
    'revoked-key:2/d',
    'the TV is revoked and paired again; a client keeps using the old key, which must give 401',
  ),
};

/**
 * Parses a fault rule. Colons or blanks separate words: `lost-answer:register:20%`, `offline:5m
 * every 1h`. Throws `invalid_option` with the place of the error and the allowed values.
 */
export function parseFault(rule: string): Rule {
  const words = new FaultWords(rule);
  const kind = faultKinds[words.kind(Object.keys(faultKinds) as Fault['kind'][])];
  words.form = `write ${kind.form}, such as ${kind.example}`;
  const fault = kind.read(words);
  words.end();
  return { ...fault, rule };
}
