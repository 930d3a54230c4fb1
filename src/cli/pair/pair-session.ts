import { interrupted, pause } from '../../client/pause.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { type Pairing, placeName } from './pairing.ts';
import type { Milestone } from './pairing-options.ts';

/** State shared by all pairings of one command. */
export interface PairSession {
  call: CommandContext;
  waitFor: Milestone;
  timeoutMs: number | undefined;
  /**
   * When to give up, by the local clock. Infinite at a terminal, where a person can stop the
   * command.
   */
  endsAtMs: number;
  signal: AbortSignal;
  /** Returns the link that the QR code of a pairing code encodes. */
  linkOf(code: string): string;
  /** Called whenever a pairing has changed. */
  changed(pairing: Pairing): void;
}

/** Completes a sentence that starts with `Waited for`. */
function waitedForText({ place, reached }: Pairing): string {
  const name = `"${placeName(place)}"`;
  if (reached.length === 0) return `a TV to register with ${name}`;
  return `the TV on ${name} to ${reached.includes('playlist') ? 'send its first event' : 'fetch its playlist'}`;
}

/** Returns the remaining time. Throws `wait_timed_out` if none is left, or `interrupted`. */
export function leftMs(
  { call, endsAtMs, timeoutMs = 0, signal }: PairSession,
  pairing: Pairing,
): number {
  if (signal.aborted) throw interrupted();
  const left = endsAtMs - call.clock.now();
  if (left > 0) return left;
  throw new SignageError(
    'wait_timed_out',
    `Timed out: waited ${Math.round(timeoutMs / 1000)} s for ${waitedForText(pairing)}.`,
  );
}

/** Pauses between two polls. */
export async function wait(session: PairSession, pairing: Pairing, forMs: number): Promise<void> {
  await pause(session.call.clock, Math.min(forMs, leftMs(session, pairing)), session.signal);
  leftMs(session, pairing);
}

/** Sets or clears the reason why a pairing makes no progress. */
export function setProblem(
  session: PairSession,
  pairing: Pairing,
  problem: string | undefined,
): void {
  if (pairing.problem === problem) return;
  pairing.problem = problem;
  session.changed(pairing);
}

const transientCodes = ['unreachable', 'unavailable'];
const retryIntervalMs = 2000;

/**
 * Repeats a request while the service is unreachable, because an installer's network may be
 * unstable. Throws all other errors.
 */
export async function retryWhileUnreachable<T>(
  session: PairSession,
  pairing: Pairing,
  ask: () => Promise<T>,
): Promise<T> {
  for (let failed = false; ; failed = true) {
    try {
      const answer = await ask();
      if (failed) setProblem(session, pairing, undefined);
      return answer;
    } catch (error) {
      if (!(error instanceof SignageError) || !transientCodes.includes(error.code)) throw error;
      setProblem(session, pairing, 'The service does not answer. Retrying.');
      await wait(session, pairing, retryIntervalMs);
    }
  }
}
