import type { Timed } from './checker.ts';

/**
 * A screen as the changes before made it. A device goes by the code that it registered with, for a
 * code binds one at most.
 */
export interface ScreenState {
  device: string | null;
  /** Codes that wait, oldest first. */
  live: readonly string[];
  used: readonly string[];
}

export const newScreen: ScreenState = { device: null, live: [], used: [] };
export const nameOf = ({ device, live, used }: ScreenState): string => `${device}|${live}|${used}`;

/**
 * What a client asked of one screen, and what it was told; `unknown` is an answer that did not
 * come, or a 503.
 */
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
  // The same answer again, for the same Idempotency-Key.
  return device === code ? [state] : binds;
}

/**
 * Every state that a screen can be in after this call; none when it cannot have been answered so.
 */
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
