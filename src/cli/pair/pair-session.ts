import { interrupted } from '../../client/interrupted.ts';
import { pause } from '../../client/pause.ts';
import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { type Pairing, placeName } from './pairing.ts';
import type { Milestone } from './pairing-options.ts';

/** What the pairings of one command share. */
export interface PairSession {
  call: CommandContext;
  waitFor: Milestone;
  timeoutMs: number | undefined;
  /** When it is to give up, by our own clock; never where there is a person who can. */
  endsAtMs: number;
  signal: AbortSignal;
  /** What the QR code says of a code. */
  linkOf(code: string): string;
  /** Is told whenever a pairing has changed. */
  changed(pairing: Pairing): void;
}

/** The end of a sentence that begins with `Waited for`. */
function waitedForText({ place, reached }: Pairing): string {
  const name = `"${placeName(place)}"`;
  if (reached.length === 0) return `a TV to register with ${name}`;
  return `the TV on ${name} to ${reached.includes('playlist') ? 'send its first event' : 'fetch its playlist'}`;
}

/** How long there is left. Throws `wait_timed_out` when there is nothing left, and `interrupted`. */
export function leftMs(
  { call, endsAtMs, timeoutMs = 0, signal }: PairSession,
  pairing: Pairing,
): number {
  if (signal.aborted) throw interrupted();
  const left = endsAtMs - call.clock.now();
  if (left > 0) return left;
  throw new SignageError(
    'wait_timed_out',
    `Waited ${Math.round(timeoutMs / 1000)} s for ${waitedForText(pairing)}, in vain.`,
  );
}

/** Lets time pass between two looks. */
export async function wait(session: PairSession, pairing: Pairing, forMs: number): Promise<void> {
  await pause(session.call.clock, Math.min(forMs, leftMs(session, pairing)), session.signal);
  leftMs(session, pairing);
}

/** Says why a pairing does not get on, or that it does again. */
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

/** Asks until the service answers: an installer's network comes and goes. Whatever else goes wrong is thrown. */
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
      setProblem(session, pairing, 'The service does not answer; trying again.');
      await wait(session, pairing, retryIntervalMs);
    }
  }
}
