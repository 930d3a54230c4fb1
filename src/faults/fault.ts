/** The calls of a TV that a fault can affect. */
export const targets = [
  'register',
  'playlist',
  'config',
  'changes',
  'events',
  'rotate',
  'all',
] as const;
export type Target = (typeof targets)[number];

/**
 * The frequency of a fault, by the TV's own clock. With `everyMs`, it occurs once at a random time
 * in each interval. Otherwise it occurs as a Poisson process, on average `times` per `inMs`.
 */
export type Pace = { everyMs: number } | { times: number; inMs: number };

/** A fault that affects single requests. */
export type LinkFault =
  | {
      kind: 'lost-request' | 'lost-answer' | 'cut-answer' | 'duplicate';
      target: Target;
      share: number;
    }
  | { kind: 'slow'; target: Target; leastMs: number; mostMs: number; share: number };

/** A fault that recurs during the life of a TV. */
export type LifeFault =
  | { kind: 'offline'; lastsMs: number; pace: Pace }
  | { kind: 'clock-jump'; byMs: number; pace: Pace }
  | { kind: 'power-cut'; lastsMs: number; pace: Pace }
  | { kind: 'factory-reset' | 'revoked-key'; pace: Pace };

/** A fault that exists from the start of a TV's life. */
type InitialFault = { kind: 'clock-skew'; byMs: number } | { kind: 'shared-code'; share: number };

export type Fault = LinkFault | LifeFault | InitialFault;

/** A fault with the text of its rule. The text identifies the rule in reports. */
export type Rule = Fault & { rule: string };

const linkKinds: Record<LinkFault['kind'], true> = {
  'lost-request': true,
  'lost-answer': true,
  'cut-answer': true,
  duplicate: true,
  slow: true,
};
const initialKinds: Record<InitialFault['kind'], true> = {
  'clock-skew': true,
  'shared-code': true,
};

export function isLinkFault<R extends Fault>(fault: R): fault is R & LinkFault {
  return Object.hasOwn(linkKinds, fault.kind);
}

export function isLifeFault<R extends Fault>(fault: R): fault is R & LifeFault {
  return !isLinkFault(fault) && !Object.hasOwn(initialKinds, fault.kind);
}
