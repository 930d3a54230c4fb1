/** The calls of a TV that a fault may be for. */
export const targets = ['register', 'playlist', 'config', 'events', 'rotate', 'all'] as const;
export type Target = (typeof targets)[number];

/** How often something happens to a TV, by its own clock: once in each span, or so many times in it on average. */
export type Pace = { everyMs: number } | { times: number; inMs: number };

/** What goes wrong with single requests. */
export type LinkFault =
  | {
      kind: 'lost-request' | 'lost-answer' | 'cut-answer' | 'duplicate';
      target: Target;
      share: number;
    }
  | { kind: 'slow'; target: Target; leastMs: number; mostMs: number; share: number };

/** What goes wrong with a TV now and then. */
export type LifeFault =
  | { kind: 'offline'; lastsMs: number; pace: Pace }
  | { kind: 'clock-jump'; byMs: number; pace: Pace }
  | { kind: 'power-cut'; lastsMs: number; pace: Pace }
  | { kind: 'factory-reset' | 'revoked-key'; pace: Pace };

/** What is wrong with some TVs from the beginning. */
type BirthFault = { kind: 'clock-skew'; byMs: number } | { kind: 'shared-code'; share: number };

export type Fault = LinkFault | LifeFault | BirthFault;

/** A fault with the rule that it was written as, by which reports name it. */
export type Rule = Fault & { rule: string };

const linkKinds: readonly string[] = [
  'lost-request',
  'lost-answer',
  'cut-answer',
  'duplicate',
  'slow',
] satisfies LinkFault['kind'][];
const birthKinds: readonly string[] = ['clock-skew', 'shared-code'] satisfies BirthFault['kind'][];

export function isLinkFault<R extends Fault>(fault: R): fault is R & LinkFault {
  return linkKinds.includes(fault.kind);
}

export function isLifeFault<R extends Fault>(fault: R): fault is R & LifeFault {
  return !isLinkFault(fault) && !birthKinds.includes(fault.kind);
}
