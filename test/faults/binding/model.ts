import type { Timed } from './checker.ts';

/**
 * State of a screen. A device is identified by the code of its registration, because a code binds
 * at most one.
 */
export interface ScreenState {
  device: string | null;
  /** Pending codes, oldest first. */
  live: readonly string[];
  used: readonly string[];
}

export const newScreen: ScreenState = { device: null, live: [], used: [] };
export const nameOf = ({ device, live, used }: ScreenState): string => `${device}|${live}|${used}`;

/** A client's call about one screen and its outcome. `unknown`: no answer, or 503. */
export type ScreenCall = Timed &
  (
    | { kind: 'create'; outcome: 'made' | 'bound' | 'unknown'; code: string }
    | { kind: 'register'; outcome: 'bound' | 'used' | 'cancelled' | 'unknown'; code: string }
    | { kind: 'revoke'; outcome: 'revoked' | 'unknown'; device: string }
    | { kind: 'fetch'; outcome: 'served' | 'refused' | 'unknown'; device: string }
    | { kind: 'look'; outcome: 'seen' | 'unknown'; device: string | null }
  );

const mostLive = 5;

function create(
  { outcome, code }: Extract<ScreenCall, { kind: 'create' }>,
  state: ScreenState,
): ScreenState[] {
  const isFree = state.device === null;
  if (outcome === 'bound') return isFree ? [] : [state];
  const made = isFree ? [{ ...state, live: [...state.live, code].slice(-mostLive) }] : [];
  return outcome === 'made' ? made : [state, ...made];
}

function register(
  { outcome, code }: Extract<ScreenCall, { kind: 'register' }>,
  state: ScreenState,
): ScreenState[] {
  const { device, live, used } = state;
  if (outcome === 'used') return used.includes(code) ? [state] : [];
  if (outcome === 'cancelled') return live.includes(code) || used.includes(code) ? [] : [state];
  const binds =
    device === null && live.includes(code)
      ? [{ device: code, live: [], used: [...used, code] }]
      : [];
  if (outcome === 'unknown') return [state, ...binds];
  // The same answer for the same Idempotency-Key.
  return device === code ? [state] : binds;
}

/** Returns all states of a screen after this call, or none if the outcome is impossible. */
export function applyCall(call: ScreenCall, state: ScreenState): ScreenState[] {
  if (call.kind === 'create') return create(call, state);
  if (call.kind === 'register') return register(call, state);
  const isBound = state.device === ('device' in call ? call.device : null);
  if (call.outcome === 'unknown')
    return call.kind === 'revoke' && isBound ? [state, { ...state, device: null }] : [state];
  if (call.kind === 'revoke') return [isBound ? { ...state, device: null } : state];
  if (call.outcome === 'refused') return isBound ? [] : [state];
  return isBound ? [state] : [];
}
